// Goal: who looks a request up reads that request, and nobody reads whose sponsor pays for it. Attackers: who names a
// request of somebody else, who sends a wallet that is not his, who has the hash of a transaction that many share.
// Method: quotes of the routes themselves in a real database; what jobs write is written as they do.
import { randomBytes } from 'node:crypto'
import { encodeBase58, type Hex } from '@causeway/core'
import { startTestDatabase, type TestDatabase } from '@causeway/database'
import type { HttpApp } from '@causeway/http'
import { createLedger, ledgerMigrations } from '@causeway/ledger'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createRequestHistory } from '../src/requests/history/requestHistory.ts'
import { createOrderStore } from '../src/requests/orders/orderStore.ts'
import { createSponsoredOrderStore, toStoredSponsorship } from '../src/requests/orders/sponsoredOrderStore.ts'
import { toStoredOrder } from '../src/requests/orders/storedOrder.ts'
import { createRequestStatuses } from '../src/requests/status/requestStatus.ts'
import { testApp } from './fixtures/app.ts'
import { chainA, chainB, usdc } from './fixtures/market.ts'
import { linkedKey, sponsorWallet, testApiKeys, testSponsor, unlinkedKey } from './fixtures/sponsor.ts'
import { orderMigrations } from './orderSupport/orders.ts'

let testDatabase: TestDatabase
let app: HttpApp
const query = (text: string, values: readonly unknown[]) => testDatabase.database.query(text, values)

beforeAll(async () => {
  testDatabase = await startTestDatabase({
    directories: [{ name: 'ledger', path: ledgerMigrations }, orderMigrations],
  })
  const { database } = testDatabase
  const [orders, sponsored] = [
    createOrderStore({ database }),
    createSponsoredOrderStore({ database, ledger: createLedger() }),
  ]
  app = await testApp({
    apiKeys: testApiKeys,
    sponsors: testSponsor(0n).sponsors,
    history: createRequestHistory({ database }),
    statuses: createRequestStatuses({ database }),
    store: (record) => orders.save(toStoredOrder(record)),
    // The rows of sponsorship are read; nothing here asks for money.
    async storeSponsored(record, hold) {
      const { sponsorship } = record.quote
      if (sponsorship === undefined) throw new Error('a sponsored quote says how')
      const stored = toStoredSponsorship(sponsorship)
      await sponsored.save({ order: toStoredOrder(record), sponsorship: stored, hold: undefined })
      return hold === undefined ? { status: 'no_hold' } : { status: 'reserved', holdId: hold.requestId }
    },
  })
})
afterAll(async () => {
  await app?.close()
  await testDatabase?.stop()
})

const randomHex = (length: number): Hex => `0x${randomBytes(length).toString('hex')}`
const bytes = (hex: string) => Buffer.from(hex.slice(2), 'hex')
const keyed = (apiKey?: string) => (apiKey === undefined ? {} : { 'x-api-key': apiKey })

async function quoted({ apiKey, user = randomHex(20) }: { apiKey?: string; user?: Hex } = {}): Promise<Hex> {
  const isSponsored = apiKey === linkedKey
  const answer = await app.inject({
    method: 'POST',
    url: '/quote',
    headers: keyed(apiKey),
    payload: {
      user,
      recipient: user,
      originChainId: chainA,
      destinationChainId: chainB,
      originCurrency: usdc,
      destinationCurrency: usdc,
      amount: '100000000',
      tradeType: 'EXACT_INPUT',
      referrer: 'an.app',
      ...(isSponsored && { subsidizeFees: true }),
    },
  })
  expect(answer.statusCode, answer.body).toBe(200)
  return answer.json().requestId
}

/** Columns that settling writes. */
const setStatus = (requestId: Hex, status: string) =>
  query('update orders set status = $2 where request_id = $1', [bytes(requestId), status])
const addTransaction = (requestId: Hex, role: string, hash: string, chainId = chainA) =>
  query(
    'insert into request_transaction (request_id, role, chain_id, tx_hash, block_number) values ($1, $2, $3, $4, 7)',
    [bytes(requestId), role, chainId, hash],
  )

async function get(url: string, apiKey?: string) {
  const answer = await app.inject({ url, headers: keyed(apiKey) })
  return { status: answer.statusCode, json: answer.json() }
}

async function idsOf(url: string, apiKey?: string): Promise<readonly string[]> {
  const { status, json } = await get(url, apiKey)
  expect(status, JSON.stringify(json)).toBe(200)
  return json.requests.map(({ id }: { id: string }) => id)
}

test('Q-100: a user that is a deposit address is that address, with and without a key', async () => {
  const [id, depositAddress] = [await quoted(), randomHex(20)]
  await query('update orders set deposit_address = $2 where request_id = $1', [bytes(id), depositAddress])
  for (const version of ['v2', 'v3'])
    for (const key of [undefined, linkedKey, unlinkedKey])
      expect(await idsOf(`/requests/${version}?user=${depositAddress}`, key), version).toEqual([id])
  expect((await get(`/requests/v2?user=${randomHex(20)}`)).status).toBe(401)
  expect((await get(`/requests/v3?user=${randomHex(20)}`)).status).toBe(401)
})

test('Q-101: an id is answered alike to anybody', async () => {
  const id = await quoted({ apiKey: unlinkedKey })
  for (const version of ['v2', 'v3'])
    for (const key of [undefined, linkedKey, unlinkedKey])
      expect(await idsOf(`/requests/${version}?id=${id}`, key)).toEqual([id])
})

test('Q-102: a list leaves out quotes that nobody paid, and has one whose deposit was seen', async () => {
  const user = randomHex(20)
  const [paid, unpaid] = [
    await quoted({ apiKey: unlinkedKey, user }),
    await quoted({ apiKey: unlinkedKey, user }),
  ]
  const list = () => idsOf(`/requests/v3?user=${user}`, unlinkedKey)
  expect(await list()).toEqual([])
  await query(
    `insert into deposit_seen (chain_id, tx_hash, onchain_index, block_number, block_hash, block_time, order_id,
       request_id, depositor, currency, amount)
     select origin_chain_id, 'a', '0', 7, 'b', now(), order_id, request_id, user_address, 'c', 1 from orders
     where request_id = $1`,
    [bytes(paid)],
  )
  expect(await list()).toEqual([paid])
  await setStatus(unpaid, 'pending')
  expect(await list()).toEqual([unpaid, paid])
})

test('Q-103: a user whose wallet the key is not linked to is shown what was made with the key', async () => {
  const user = randomHex(20)
  const own = await quoted({ apiKey: unlinkedKey, user })
  const others = await quoted({ apiKey: linkedKey, user })
  const ofWallet = await quoted({ apiKey: unlinkedKey, user: sponsorWallet })
  for (const id of [own, others, ofWallet]) await setStatus(id, 'success')
  for (const version of ['v2', 'v3']) {
    expect(await idsOf(`/requests/${version}?user=${user}`, unlinkedKey)).toEqual([own])
    expect(await idsOf(`/requests/${version}?user=${user}`, linkedKey)).toEqual([others])
  }
  expect(await idsOf(`/requests/v2?user=${sponsorWallet}`, linkedKey)).toEqual([ofWallet])
})

test('Q-104: who pays for a request is told to the key that it was made with alone', async () => {
  const id = await quoted({ apiKey: linkedKey })
  for (const version of ['v2', 'v3']) {
    const shown = async (key?: string) =>
      'feeSponsorship' in (await get(`/requests/${version}?id=${id}`, key)).json.requests[0].data
    expect([await shown(), await shown(unlinkedKey), await shown(linkedKey)]).toEqual([false, false, true])
  }
})

test('Q-105: the hash of a refund is there as soon as its block is', async () => {
  const id = await quoted()
  const [fill, refund] = [randomHex(32), randomHex(32)]
  await setStatus(id, 'pending')
  await addTransaction(id, 'fill', fill, chainB)
  const hashes = async () => (await get(`/intents/status/v3?requestId=${id}`)).json.txHashes
  expect(await hashes()).toEqual([fill])
  await addTransaction(id, 'refund', refund)
  expect(await hashes()).toEqual([refund])
  await setStatus(id, 'success')
  expect(await hashes()).toEqual([fill])
})

test('Q-106: a status is found by an origin transaction that is of one request', async () => {
  const [one, two] = [await quoted(), await quoted()]
  const [own, shared, fill] = [randomHex(32), randomHex(32), randomHex(32)]
  await addTransaction(one, 'deposit', own)
  await addTransaction(one, 'fill', fill, chainB)
  for (const id of [one, two]) await addTransaction(id, 'deposit', shared)
  const read = (hash: Hex) => get(`/intents/status/v3?requestId=${hash}`)
  expect((await read(own)).json).toEqual((await read(one)).json)
  for (const hash of [shared, fill, randomHex(32)])
    expect((await read(hash)).json).toMatchObject({ statusCode: 404, errorCode: 'REQUEST_NOT_FOUND' })
})

test.each([
  ['hex', () => randomHex(32), (hash: string) => `0x${hash.slice(2).toUpperCase()}`],
  ['hex without 0x', () => randomHex(32).slice(2), (hash: string) => hash.toUpperCase()],
  ['longer hex', () => randomHex(40).slice(2), (hash: string) => hash.toUpperCase()],
] as const)(
  'Q-106: a status is found by an origin transaction in %s, in any case',
  async (_, hashOf, upper) => {
    const [id, hash] = [await quoted(), hashOf()]
    await addTransaction(id, 'deposit', hash)
    for (const spelled of [hash, upper(hash)])
      expect((await get(`/intents/status/v3?requestId=${spelled}`)).json).toEqual(
        (await get(`/intents/status/v3?requestId=${id}`)).json,
      )
  },
)

test('Q-106: a status is found by an origin transaction in base58, and by no other spelling', async () => {
  const [id, other] = [await quoted(), await quoted()]
  const hash = encodeBase58(randomBytes(64))
  const swapped = hash.replace(/[a-hjkmnp-z]/, (letter) => letter.toUpperCase())
  await addTransaction(id, 'deposit', hash)
  await addTransaction(other, 'deposit', swapped)
  for (const [spelled, named] of [
    [hash, id],
    [swapped, other],
  ])
    expect((await get(`/intents/status/v3?requestId=${spelled}`)).json).toEqual(
      (await get(`/intents/status/v3?requestId=${named}`)).json,
    )
  expect((await get(`/intents/status/v3?requestId=${hash.toLowerCase()}`)).json.statusCode).not.toBe(200)
  expect((await get('/intents/status/v3?requestId=nonsense')).json).toMatchObject({ statusCode: 400 })
})

test('Q-107: a deposit address is the object that public clients read', async () => {
  const [id, address, recoveryAddress] = [await quoted(), randomHex(20), randomHex(20)]
  await query('update orders set deposit_address = $2 where request_id = $1', [bytes(id), address])
  await query(
    `insert into deposit_address (address, chain_id, order_signer, sweeper, depositor, nonce, request_id, asked,
       is_keyed, lane, currency, is_strict) values ($1, $2, 'a', 'b', $3, $4, $5, 1, false, 3, 'c', true)`,
    [address, chainA, recoveryAddress, bytes(id), bytes(id)],
  )
  const { json } = await get(`/requests/v3?depositAddress=${address}`)
  expect(json.requests[0].depositAddress).toEqual({
    address,
    type: 'strict',
    depositor: null,
    depositTxHash: null,
    recoveryAddress,
  })
  const [depositor, depositTxHash] = [randomHex(20), randomHex(32)]
  await query('insert into address_transfer (request_id, tx_hash, sender) values ($1, $2, $3)', [
    ...[bytes(id), depositTxHash, depositor],
  ])
  expect((await get(`/requests/v3?id=${id}`)).json.requests[0].depositAddress).toMatchObject({
    depositor,
    depositTxHash,
  })
  expect((await get(`/requests/v3?id=${await quoted()}`)).json.requests[0].depositAddress).toBeNull()
})

test('Q-108: a route has what was quoted, and after success what moved', async () => {
  const id = await quoted()
  const routeOf = async () => (await get(`/requests/v3?id=${id}`)).json.requests[0].data.route
  const before = await routeOf()
  expect(before.actual).toBeNull()
  expect(before.quoted.origin.inputCurrency).toMatchObject({
    amount: '100000000',
    currency: { address: usdc },
  })
  await query(
    `with d as (insert into deposit_seen (chain_id, tx_hash, onchain_index, block_number, block_hash, block_time,
       order_id, request_id, depositor, currency, amount)
       select origin_chain_id, 'x', '0', 7, 'b', now(), order_id, request_id, user_address, $2, 100000007
       from orders where request_id = $1 returning id)
     insert into settlement (request_id, deposit_id, stage, is_bound) select $1, id, 'filled', true from d`,
    [bytes(id), usdc],
  )
  await setStatus(id, 'success')
  const { quoted: promised, actual } = await routeOf()
  expect(promised).toEqual(before.quoted)
  expect(actual.origin.inputCurrency.amount).toBe('100000007')
  expect(actual.destination).toEqual({})
  expect(actual).not.toHaveProperty('rate')
})

test('Q-113: what a route paid out is what was measured', async () => {
  const id = await quoted()
  await setStatus(id, 'success')
  await query(
    `insert into fill_measurement (request_id, origin_chain_id, destination_chain_id, elapsed_seconds, quoted_seconds,
       reaction_ms, quoted_gas_usd_x18, output_amount, quoted_output_amount, deposit_amount, quoted_deposit_amount)
     select $1, origin_chain_id, destination_chain_id, 1, 1, 1, 0, 99000001, 99000000, 1, 1 from orders
     where request_id = $1`,
    [bytes(id)],
  )
  const { actual } = (await get(`/requests/v3?id=${id}`)).json.requests[0].data.route
  expect(actual.destination.outputCurrency).toMatchObject({
    amount: '99000001',
    amountFormatted: '99.000001',
    minimumAmount: '99000001',
  })
  expect(Number(actual.rate)).toBeCloseTo(0.99, 4)
})
