// Goal: whatever transfers nodes list late, the address that they pay is put forward, and one that a denied account has
// paid waits for an operator. Method: passes of the scanner over a real database and a chain that lists what its test lets it.
import { startTestDatabase, type TestDatabase } from '@causeway/database'
import { ledgerMigrations } from '@causeway/ledger'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { lockAddress } from '../src/requests/depositAddresses/addressStore.ts'
import { handleMoney } from '../src/requests/depositAddresses/arrivals/handleMoney.ts'
import { readScanCursor } from '../src/requests/depositAddresses/arrivals/paidAddressStore.ts'
import { createPaymentScanner } from '../src/requests/depositAddresses/arrivals/scanPayments.ts'
import type { AddressChain } from '../src/requests/depositAddresses/depositAddressContext.ts'
import { createOrderStore } from '../src/requests/orders/orderStore.ts'
import { orderMigrations, orderNamed } from './orderSupport/orders.ts'
import { bytesOf } from './settlementSupport/requestDriver.ts'

const chainId = 8_453
const [address, denied, token] = ['0xa1', '0xdd', '0x70']
const order = orderNamed('scanned')
const run = { fence: async () => undefined, signal: new AbortController().signal }

let server: TestDatabase
beforeAll(async () => {
  const directories = [{ name: 'ledger', path: ledgerMigrations }, orderMigrations]
  server = await startTestDatabase({ directories })
  await createOrderStore({ database: server.database }).save(order)
})
afterAll(() => server?.stop())

let nowMs = 0
beforeEach(async () => {
  nowMs = 1_000_000
  await server.database.query('delete from deposit_address_cursor')
  await server.database.query('delete from deposit_address')
  await addAddress()
})

async function addAddress(): Promise<void> {
  await server.database.query(
    `insert into deposit_address (address, chain_id, order_signer, sweeper, depositor, nonce, request_id, currency, is_strict)
     values ($1, $2, '0x1', '0x2', '0x3', $3, $3, $4, false)`,
    [address, chainId, bytesOf(order.requestId), token],
  )
}

/** A block a second: the last ones of half a minute may be listed late, and ten are not final. */
function scannedChain() {
  let head = 100n
  let branch = 'a'
  const transfers: { block: bigint; id: string }[] = []
  const hidden = new Set<string>()
  const read: (readonly [bigint, bigint])[] = []
  let listings = 0
  const markAt = (number: bigint) => ({ number, hash: `${branch}${number}` })
  const site: AddressChain = {
    // CAST: only the id and the key of the chain are looked at.
    chain: { chainId, key: 'base' } as AddressChain['chain'],
    head: async () => head,
    finalHeight: async () => head - 10n,
    isSeenInBlocks: false,
    balances: async () => [],
    blocks: {
      steps: { rangeBlocks: 4n, rewindBlocks: 64n, lateBlocks: 30n, firstBlocks: 64n },
      async payments({ known, from, to, transfersFrom }) {
        read.push([from, to])
        if (transfersFrom <= to) listings += 1
        const listed = transfers.filter(
          ({ block, id }) => block >= transfersFrom && block <= to && !hidden.has(id),
        )
        const payments = listed.map(({ id }) => ({
          id,
          from: denied,
          to: address,
          currency: token,
          amount: 1n,
        }))
        return { known: markAt(known), last: from <= to ? markAt(to) : undefined, payments, named: [] }
      },
    },
  }
  return {
    site,
    hidden,
    read,
    head: () => head,
    listings: () => listings,
    pay(id: string) {
      head += 1n
      transfers.push({ block: head, id })
      hidden.add(id)
    },
    wait(seconds: number) {
      head += BigInt(seconds)
      nowMs += seconds * 1_000
    },
    fork(depth: bigint) {
      branch = 'b'
      head += 1n
      for (const one of transfers) if (one.block > head - depth) one.id = `${one.id} again`
    },
  }
}

function scannerOf(site: AddressChain, database = server.database) {
  const screening = { isDenied: (_chain: number, account: string) => account === denied }
  // CAST: of a deny list nothing but its judgement on accounts is asked for.
  const context = {
    database,
    now: () => nowMs,
    screening: screening as never,
  }
  return createPaymentScanner(context, site)
}

const isMarked = async () => {
  const [row] = await server.database.query<{ is_sender_denied: boolean; lane: bigint }>(
    'select is_sender_denied, lane from deposit_address',
  )
  return row?.is_sender_denied === true && Number(row.lane) < 3
}

test.each([3, 25])('F-76: a transfer that is listed %i seconds late marks its payer', async (late) => {
  const chain = scannedChain()
  const scan = scannerOf(chain.site)
  await scan(run)
  chain.pay('x')
  for (let second = 0; second < late; second += 1) {
    await scan(run)
    chain.wait(1)
  }
  expect(await isMarked()).toBe(false)
  chain.hidden.clear()
  await scan(run)
  expect(await isMarked()).toBe(true)
})

test('F-79: blocks of a long pause are read in order, some at a time, and none is left out', async () => {
  const chain = scannedChain()
  await scannerOf(chain.site)(run)
  const paused = chain.head()
  chain.pay('x')
  chain.hidden.clear()
  chain.wait(1_000)
  chain.read.length = 0
  await scannerOf(chain.site)(run)
  expect(await isMarked()).toBe(true)
  const ranges = chain.read.filter(([from, to]) => from <= to)
  for (const [index, [from, to]] of ranges.entries()) {
    expect(from).toBe(index === 0 ? paused + 1n : (ranges[index - 1]?.[1] ?? 0n) + 1n)
    expect(to - from).toBeLessThan(4n)
  }
  expect(ranges.at(-1)?.[1]).toBe(chain.head())
})

test('F-76: one that is listed while no process runs is found as its block is final, also after kills at each step', async () => {
  const chain = scannedChain()
  await scannerOf(chain.site)(run)
  chain.pay('x')
  await scannerOf(chain.site)(run)
  chain.hidden.clear()
  chain.wait(200)
  for (let kept = 0; ; kept += 1) {
    let commits = 0
    const database = {
      ...server.database,
      transaction: ((work) =>
        server.database.transaction(async (tx) => {
          const done = await work(tx)
          commits += 1
          if (commits > kept) throw new Error('killed')
          return done
          // CAST: it passes on what the work returns.
        })) as TestDatabase['database']['transaction'],
    }
    const outcome = await scannerOf(chain.site, database)(run).catch(() => 'killed')
    if (outcome !== 'killed') break
    chain.wait(1)
  }
  expect(await isMarked()).toBe(true)
  expect(await readScanCursor(server.database, chainId)).toMatchObject({ finalTo: chain.head() - 30n })
})

test('F-76: a reorganization loses nothing, and without a new block nothing is listed', async () => {
  const chain = scannedChain()
  const scan = scannerOf(chain.site)
  await scan(run)
  chain.pay('x')
  await scan(run)
  chain.fork(5n)
  chain.hidden.clear()
  await scan(run)
  expect(await isMarked()).toBe(true)
  const before = chain.listings()
  await scan(run)
  await scan(run)
  expect(chain.listings()).toBe(before)
})

test('F-106: while the chain has no deposit address no block is read, and from the first one on all are', async () => {
  await server.database.query('delete from deposit_address')
  const chain = scannedChain()
  const scan = scannerOf(chain.site)
  for (let minute = 0; minute < 10; minute += 1) {
    chain.wait(60)
    expect(await scan(run)).toBe(false)
  }
  expect(chain.read).toEqual([])
  const left = chain.head()
  await addAddress()
  chain.pay('x')
  chain.hidden.clear()
  await scan(run)
  expect(await isMarked()).toBe(true)
  // Blocks that a fork may still replace are read as well.
  expect(left - (chain.read[0]?.[0] ?? left)).toBeGreaterThan(60n)
})

test.each([
  ['is denied', [denied]],
  ['nobody can tell', undefined],
])('O-179: who leads the job no more marks no address whose payer %s', async (_, payers) => {
  const stored = await server.database.transaction((tx) => lockAddress(tx, address))
  if (stored === undefined) throw new Error('the address is stored')
  const fence = async () => {
    throw new Error('somebody else leads')
  }
  const look = {
    site: { ...scannedChain().site, payers: async () => payers },
    address: stored,
    balances: new Map(),
    height: 100n,
    head: 100n,
    run: { ...run, fence },
  }
  const screening = { isDenied: () => true }
  // CAST: nothing else is asked for before the payers are stored.
  const context = { database: server.database, screening } as never
  await expect(handleMoney(context, look)).rejects.toThrow('somebody else leads')
  expect(await server.database.query('select from deposit_address where is_sender_denied')).toEqual([])
})
