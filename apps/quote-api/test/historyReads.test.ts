// Goal: a list costs what its rows cost, and answers one moment. Adversaries: a request that changes while its list
// is read, and statements whose planning takes longer than their answer.
import type { SqlDatabase, SqlRow, SqlTx, SqlWriteTx } from '@causeway/core'
import { createDatabase, startTestDatabase, type TestDatabase } from '@causeway/database'
import { ledgerMigrations } from '@causeway/ledger'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Page, RequestFilter } from '../src/requests/history/requestFilter.ts'
import { createRequestHistory } from '../src/requests/history/requestHistory.ts'
import { linkedKey } from './fixtures/sponsor.ts'
import { type HistoryRow, hashOf, storeHistory } from './historySupport/historyRows.ts'
import { orderMigrations } from './orderSupport/orders.ts'

const account = `0x${'a'.repeat(40)}`
const statuses = ['pending', 'failure', 'success', 'refund']
/** Older than any standstill. */
const rows = Array.from({ length: 40 }, (_, index): HistoryRow => {
  const createdAtMicros = BigInt(1_700_000_000 + index) * 1_000_000n
  return {
    requestId: hashOf(`request ${index}`),
    orderId: hashOf(`order ${index}`),
    apiKeyId: linkedKey,
    user: account,
    recipient: account,
    status: statuses[index % statuses.length] ?? '',
    failReason: undefined,
    operation: 'bridge',
    hasCalls: false,
    referrer: 'an.app',
    originChainId: 1,
    destinationChainId: 10,
    depositAddress: undefined,
    transactions: [{ role: 'deposit', txHash: hashOf(`deposit ${index}`) }],
    isSeen: false,
    createdAtMicros,
    updatedAtMicros: createdAtMicros,
  }
})

/** No machine is too busy for it. */
const pool = { acquireTimeoutMs: 60_000, statementTimeoutMs: 60_000 }
let testDatabase: TestDatabase
beforeAll(async () => {
  testDatabase = await startTestDatabase({
    directories: [{ name: 'ledger', path: ledgerMigrations }, orderMigrations],
    pool,
  })
  await storeHistory(testDatabase.database, rows)
})
afterAll(() => testDatabase?.stop())

const page: Page = { limit: 5, after: undefined, direction: 'desc', sortBy: 'createdAt' }
const ofKey = (filter: RequestFilter = {}) => ({ apiKeyId: linkedKey, ...filter })

/** The database, and the statements that it answered; `meanwhile` happens behind the first of a transaction. */
function watch(database: SqlDatabase, meanwhile?: () => Promise<unknown>) {
  const asked: string[] = []
  const watched: SqlDatabase = {
    async query(...statement) {
      asked.push(statement[0])
      return database.query(...statement)
    },
    transaction: (work, options) =>
      database.transaction((tx) => {
        let answers = 0
        const slow: SqlWriteTx = {
          ...tx,
          async query<Row extends SqlRow>(...statement: Parameters<SqlTx['query']>) {
            asked.push(statement[0])
            const answer = await tx.query<Row>(...statement)
            answers += 1
            if (answers === 1) await meanwhile?.()
            return answer
          },
        }
        return work(slow)
      }, options),
  }
  return { watched, asked }
}

it('Q-77: a request that changes while its list is read is answered in the state that it was found in', async () => {
  const { database } = testDatabase
  const changed = hashOf('request 36')
  const bytes = Buffer.from(changed.slice(2), 'hex')
  const change = (status: string) =>
    database.query('update orders set status = $1 where request_id = $2', [status, bytes])
  const { watched } = watch(database, () => change('failure'))
  const { requests } = await createRequestHistory({ database: watched }).list(
    ofKey({ status: 'pending' }),
    page,
  )
  expect(requests.map(({ requestId, status }) => ({ requestId, status }))).toContainEqual({
    requestId: changed,
    status: 'pending',
  })
  const { requests: later } = await createRequestHistory({ database }).list(ofKey({ id: changed }), page)
  expect(later).toMatchObject([{ requestId: changed, status: 'failure' }])
  await change('pending')
})

it.each<[string, RequestFilter, Page['sortBy'], number]>([
  ['of what succeeded: its places and their rows', { status: 'success' }, 'createdAt', 2],
  [
    'of what failed: its reason is stored, and nothing else is looked for',
    { status: 'failure' },
    'createdAt',
    2,
  ],
  ['of what waits for long: why, too', { status: 'pending' }, 'createdAt', 3],
  ['by the last change: how far it is complete, too', { status: 'success' }, 'updatedAt', 3],
  ['of nothing: no rows', { referrer: 'other.app' }, 'createdAt', 1],
])('Q-79: a list asks %s', async (_, filter, sortBy, statements) => {
  const { watched, asked } = watch(testDatabase.database)
  const { requests } = await createRequestHistory({ database: watched }).list(ofKey(filter), {
    ...page,
    sortBy,
  })
  expect(requests).toHaveLength(statements === 1 ? 0 : page.limit)
  expect(asked).toHaveLength(statements)
})

it('Q-79: what is read by ids is planned once for all lists, and places anew for each', async () => {
  const { connectionString } = testDatabase
  const database = createDatabase({ ...pool, connectionString, poolSize: 1 })
  const history = createRequestHistory({ database })
  const filters: RequestFilter[] = [
    ...statuses.map((status) => ({ status }) as RequestFilter), // CAST: they are statuses.
    ...[{ id: hashOf('request 7') }, { user: account }, { chainId: 1 }, { term: hashOf('deposit 3') }],
  ]
  for (const filter of filters)
    for (const limit of [1, 20])
      for (const sortBy of ['createdAt', 'updatedAt'] as const)
        await history.list(ofKey(filter), { ...page, limit, sortBy })
  const kept = await database.query<{ statement: string; custom_plans: bigint; generic_plans: bigint }>(
    'select statement, custom_plans, generic_plans from pg_prepared_statements',
  )
  const ofIds = kept.filter(({ statement }) => statement.includes('with ordinality'))
  expect(ofIds).toMatchObject([{ custom_plans: 0n, generic_plans: BigInt(filters.length * 4) }])
  for (const { statement, custom_plans } of kept) expect(custom_plans, statement).toBe(0n)
  expect(kept.filter(({ statement }) => statement.includes('union all (select o.request_id'))).toEqual([])
  await database.close()
})
