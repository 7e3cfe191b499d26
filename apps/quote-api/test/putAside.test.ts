// Goal: what cannot be read is tried again, costs a bounded number of readings, is never lost, and an operator sees it.
// Attacks: a stranger who makes many of them, an outage during a try, a chain that forgets, a commit that fails.

import { type DepositFacts, type InBlock, UpstreamUnavailableError } from '@causeway/core'
import { createFindings } from '@causeway/core/config'
import { startTestDatabase, type TestDatabase } from '@causeway/database'
import { TransactionTooLargeError, TransactionUnreadableError } from '@causeway/rpc'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { examineStored } from '../src/operate/examineStored.ts'
import { retryPutAside } from '../src/requests/settlement/finding/foundDeposits.ts'
import { listDuePutAside, listPutAside, putAside } from '../src/requests/work/putAsideStore.ts'
import { orderMigrations } from './orderSupport/orders.ts'

const chainId = 8_453
const where = { chainId: 'base', transactionId: '0xaa' }
const unreadable = new TransactionUnreadableError(where)
const silence = new UpstreamUnavailableError('silence', {})
const run = { fence: async () => undefined, signal: new AbortController().signal }

let server: TestDatabase
beforeAll(async () => {
  server = await startTestDatabase({ directories: [orderMigrations] })
})
afterAll(() => server?.stop())
beforeEach(() => server.database.query('delete from put_aside'))

const aside = (transactionId: string, onChain = chainId) =>
  ({ chainId: onChain, transactionId, purpose: 'deposits', reason: 'unreadable' }) as const
const put = (...ids: readonly string[]) =>
  server.database.transaction((tx) =>
    putAside(
      tx,
      ids.map((id) => aside(id)),
    ),
  )
const makeDue = () =>
  server.database.query(`update put_aside set last_tried_at = last_tried_at - interval '1 day'`)

/** Tries what is due on a chain that says so of every transaction. @returns what was asked for */
async function retryWith(says: InBlock<DepositFacts> | Error | undefined): Promise<readonly string[]> {
  const asked: string[] = []
  const deposits = async (transactionId: string) => {
    asked.push(transactionId)
    if (says instanceof Error) throw says
    return says
  }
  const context = {
    database: server.database,
    announce: async () => undefined,
    observe: () => undefined,
    chains: new Map([[chainId, { deposits, chain: { chainId } }]]),
  }
  await retryPutAside(context, run)
  return asked
}

const nothing: InBlock<DepositFacts> = {
  kind: 'deposits',
  transactionId: '0xaa',
  blockTimestampSeconds: 1n,
  deposits: [],
  evidence: {
    chainId: 'base',
    blockHash: '0x01',
    blockNumber: 1n,
    finalityRule: 'any',
    agreeingEndpoints: [],
  },
}

test('F-6: it stays until it is read, whatever else becomes of a try', async () => {
  await put('0xaa')
  const seen = async () => (await listPutAside(server.database)).map(({ reason, tries }) => [reason, tries])
  expect(await retryWith(unreadable)).toEqual([])
  for (const [says, after] of [
    [unreadable, ['unreadable', 2]],
    // An outage says nothing of the transaction, and endpoints forget.
    [silence, ['unreadable', 2]],
    [undefined, ['unreadable', 2]],
    [new TransactionTooLargeError(where), ['too_large', 3]],
  ] as const) {
    await makeDue()
    expect(await retryWith(says)).toEqual(['0xaa'])
    expect(await seen()).toEqual([after])
    // It has its pause after each of them.
    expect(await retryWith(says)).toEqual([])
  }
  await makeDue()
  await expect(retryWith(new TypeError('a bug'))).rejects.toThrow('a bug')
  expect(await retryWith(nothing)).toEqual(['0xaa'])
  expect(await seen()).toEqual([])
})

test('F-6: pauses double from a minute to six hours', async () => {
  await put('0xaa')
  const pauses = [1, 2, 4, 8, 16, 32, 64, 128, 256, 360, 360, 360]
  const isDueAfter = async (tries: number, seconds: number) => {
    await server.database.query(
      `update put_aside set tries = $1, last_tried_at = now() - $2 * interval '1 second'`,
      [tries, seconds],
    )
    return (await listDuePutAside(server.database, [chainId], { purpose: 'deposits', limit: 1 })).length === 1
  }
  for (const [index, minutes] of pauses.entries()) {
    expect(await isDueAfter(index + 1, 60 * minutes - 20)).toBe(false)
    expect(await isDueAfter(index + 1, 60 * minutes + 1)).toBe(true)
  }
})

test('F-6: however many there are, one run tries eight, each in turn, and none of a chain that is not read', async () => {
  const ids = Array.from({ length: 20 }, (_, index) => `0x${index}`)
  await put(...ids)
  await server.database.transaction((tx) => putAside(tx, [aside('0xbb', 10)]))
  await makeDue()
  const asked = [await retryWith(unreadable), await retryWith(unreadable), await retryWith(unreadable)]
  expect(asked.map(({ length }) => length)).toEqual([8, 8, 4])
  expect(new Set(asked.flat())).toEqual(new Set(ids))
})

test('F-6: one that is found again is the same one, and a commit that fails puts none aside', async () => {
  await put('0xaa')
  await put('0xaa')
  const failing = server.database.transaction(async (tx) => {
    await putAside(tx, [aside('0xcc')])
    throw new Error('the cursor was not moved')
  })
  await expect(failing).rejects.toThrow('not moved')
  expect(
    (await listPutAside(server.database)).map(({ transactionId, tries }) => [transactionId, tries]),
  ).toEqual([['0xaa', 2]])
})

test('F-6: the doctor names them by chain, with reason, age and tries, and nothing where there are none', async () => {
  const examine = async (connectionString = server.connectionString) => {
    const found = createFindings()
    const chainNames = new Map([[chainId, 'base']])
    await examineStored(connectionString, { chainNames, peppers: undefined, nowMs: () => Date.now() }, found)
    return found.list
  }
  expect(await examine()).toEqual([])
  await put(...Array.from({ length: 7 }, (_, index) => `0xa${index}`))
  await server.database.transaction((tx) => putAside(tx, [aside('0xbb', 10)]))
  await server.database.query(
    `update put_aside set first_seen_at = now() - interval '90 minutes', tries = 6 where transaction_id = '0xa3'`,
  )
  const [base, other] = await examine()
  expect(base).toMatchObject({ code: 'put-aside', severity: 'degrades', setting: 'chain base' })
  expect(base?.seen).toContain('0xa3 (unreadable, for 90 min, tried 6 times), 0xa0 (unreadable, for 0 min')
  expect(base?.seen).toContain(', and 2 more')
  expect(other).toMatchObject({ setting: 'chain 10', seen: expect.stringContaining('0xbb (unreadable') })
  // Others find what is wrong with the database.
  const empty = await startTestDatabase()
  try {
    expect(await examine(empty.connectionString)).toEqual([])
  } finally {
    await empty.stop()
  }
  expect(await examine('postgres://causeway:x@127.0.0.1:9/none')).toEqual([])
})
