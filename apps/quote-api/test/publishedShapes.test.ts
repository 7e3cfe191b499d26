// Goal: readers that no registry offers are answered in the types that they parse. Adversaries: a `null` where a parser
// takes text or nothing, a state that a reader has no case for, a list that shows everybody's requests.
// Method: quotes of the routes themselves in a real database; what jobs write is written as they do.
import { randomBytes } from 'node:crypto'
import type { Hex } from '@causeway/core'
import { startTestDatabase, type TestDatabase } from '@causeway/database'
import type { HttpApp } from '@causeway/http'
import { ledgerMigrations } from '@causeway/ledger'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createRequestHistory } from '../src/requests/history/requestHistory.ts'
import { createOrderStore } from '../src/requests/orders/orderStore.ts'
import { toStoredOrder } from '../src/requests/orders/storedOrder.ts'
import { createRequestStatuses } from '../src/requests/status/requestStatus.ts'
import { testApp } from './fixtures/app.ts'
import { chainA, chainB, usdc } from './fixtures/market.ts'
import { l2beat, lookUps, published } from './fixtures/publishedShapes.ts'
import { agentHistory, agentRow, missingMembers } from './fixtures/relayMcp.ts'
import { testApiKeys, unlinkedKey } from './fixtures/sponsor.ts'
import { orderMigrations } from './orderSupport/orders.ts'

let testDatabase: TestDatabase
let app: HttpApp

beforeAll(async () => {
  const ledger = { name: 'ledger', path: ledgerMigrations }
  testDatabase = await startTestDatabase({ directories: [ledger, orderMigrations] })
  const { database } = testDatabase
  const orders = createOrderStore({ database })
  app = await testApp({
    apiKeys: testApiKeys,
    history: createRequestHistory({ database }),
    statuses: createRequestStatuses({ database }),
    store: (record) => orders.save(toStoredOrder(record)),
  })
})
afterAll(async () => {
  await app?.close()
  await testDatabase?.stop()
})

const randomHex = (length: number): Hex => `0x${randomBytes(length).toString('hex')}`
const routeOf = (user: Hex) => ({
  user,
  originChainId: chainA,
  destinationChainId: chainB,
  originCurrency: usdc,
  destinationCurrency: usdc,
  amount: '100000000',
})

async function quote(payload: object, headers = {}) {
  const answer = await app.inject({ method: 'POST', url: '/quote/v2', payload, headers })
  expect(answer.statusCode, answer.body).toBe(200)
  return answer.json()
}

const requestIdOf = (answer: { steps: { requestId: Hex }[] }): Hex => {
  const id = answer.steps.at(-1)?.requestId
  if (id === undefined) throw new Error('a step names its request')
  return id
}

/** Rows that jobs write of a request that was paid, and of its payment. */
async function fill(requestId: Hex, status = 'success') {
  const id = Buffer.from(requestId.slice(2), 'hex')
  const [deposit, payment] = [randomHex(32), randomHex(32)]
  const { database } = testDatabase
  const insert =
    'insert into request_transaction (request_id, role, chain_id, tx_hash, block_number) values ($1, $2, $3, $4, 7)'
  await database.query(insert, [id, 'deposit', chainA, deposit])
  await database.query(insert, [id, 'fill', chainB, payment])
  await setStatus(requestId, status)
  return { deposit, payment }
}
const setStatus = (requestId: Hex, status: string) =>
  testDatabase.database.query('update orders set status = $2 where request_id = $1', [
    Buffer.from(requestId.slice(2), 'hex'),
    status,
  ])

const states = ['waiting', 'pending', 'submitted', 'success', 'failure', 'refund'] as const

test.each(published)('Q-112: $client reads its quotes and their states', async (client) => {
  const headers = client.isKeyed === true ? { 'x-api-key': unlinkedKey } : {}
  for (const status of states) {
    const answer = await quote(client.quote(routeOf(randomHex(20))), headers)
    expect(client.quoted.safeParse(answer).error).toBeUndefined()
    const requestId = requestIdOf(answer)
    const { deposit: depositTxHash } = await fill(requestId, status)
    const sent = { requestId, depositTxHash, originChainId: chainA }
    const told = await app.inject({ url: client.status(sent), headers })
    expect(told.statusCode, told.body).toBe(200)
    expect(client.told.safeParse(told.json()).error, status).toBeUndefined()
    // The first version of the status has other words for the rest.
    expect(client.stateOf(told.json()) === 'success').toBe(status === 'success')
  }
})

test.each(lookUps)('Q-112: $client finds chains and currencies: $request.url', async ({ request, found }) => {
  const answer = await app.inject(request)
  expect(answer.statusCode, answer.body).toBe(200)
  expect(found.safeParse(answer.json()).error).toBeUndefined()
})

test('Q-112: L2BEAT reads rows that it names, and is refused the list of everybody', async () => {
  const requestId = requestIdOf(await quote({ ...routeOf(randomHex(20)), tradeType: 'EXACT_INPUT' }))
  const { deposit, payment } = await fill(requestId)
  const { rows } = l2beat
  for (const query of [`id=${requestId}`, `hash=${deposit}`, `hash=${payment}`]) {
    const answer = (await app.inject({ url: `/requests/v2?${query}` })).json()
    expect(answer.requests).toHaveLength(1)
    expect(rows.safeParse(answer).error).toBeUndefined()
  }
  const list = await app.inject({ url: l2beat.list(0), headers: { 'x-api-key': unlinkedKey } })
  expect(list.json()).toMatchObject({ statusCode: 400, errorCode: 'INVALID_REQUEST' })
  expect(list.body).not.toContain(requestId)
})

test('Q-112: the agents’ history lists what its key made, and nothing without it', async () => {
  const user = randomHex(20)
  const made = await quote({ ...routeOf(user), tradeType: 'EXACT_INPUT' }, { 'x-api-key': unlinkedKey })
  const requestId = requestIdOf(made)
  await fill(requestId)
  const { headers, ...request } = agentHistory(user, unlinkedKey)
  const answer = (await app.inject({ ...request, headers })).json()
  expect(answer.requests.map(({ id }: { id: string }) => id)).toEqual([requestId])
  expect(
    missingMembers(
      answer,
      agentRow.map((path) => `requests.*.${path}`),
    ),
  ).toEqual([])
  expect((await app.inject(request)).statusCode).toBe(401)
})
