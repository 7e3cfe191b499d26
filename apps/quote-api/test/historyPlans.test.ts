// Goal: each filter is answered from an index however long the history is. Adversary: a key with a long history, and
// values that few or none of its requests have.
import { startTestDatabase, type TestDatabase } from '@causeway/database'
import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  type Page,
  pageSql,
  type RequestFilter,
  type SortKey,
  sortKeys,
} from '../src/requests/history/requestFilter.ts'
import { filledKey, filledValues, fillHistory, historyDirectories } from './historySupport/filledHistory.ts'

let testDatabase: TestDatabase
beforeAll(async () => {
  testDatabase = await startTestDatabase({
    directories: historyDirectories,
    pool: { statementTimeoutMs: 300_000 },
  })
  await fillHistory(testDatabase.database, 60_000)
}, 300_000)
afterAll(() => testDatabase?.stop())

async function planOf(filter: RequestFilter, sortBy: SortKey = 'createdAt'): Promise<string> {
  const page = { limit: 20, after: undefined, direction: 'desc', sortBy } as const
  const { text, values } = pageSql({ apiKeyId: filledKey, ...filter }, page)
  const rows = await testDatabase.database.query(`explain ${text}`, values, { isPlannedEachTime: true })
  return rows.map((row) => row['QUERY PLAN']).join('\n')
}

const { term, user, txHash, depositAddress } = filledValues
it.each<[RequestFilter, readonly string[]]>([
  [{}, ['orders_paid']],
  [{ user: filledValues.rareUser }, ['orders_paid_user']],
  [{ user }, ['orders_paid_user']],
  [{ recipient: filledValues.rareUser }, ['orders_paid_recipient']],
  [{ status: 'failure' }, ['orders_paid_status']],
  [{ failReason: 'SLIPPAGE' }, ['orders_failed']],
  [{ requestType: 'Send' }, ['orders_paid_type']],
  [{ referrer: 'rare.app' }, ['orders_paid_referrer']],
  [{ originChainId: 137 }, ['orders_paid_origin']],
  [{ destinationChainId: 137 }, ['orders_paid_destination']],
  [{ chainId: 137 }, ['orders_paid_origin', 'orders_paid_destination']],
  [{ txHash }, ['request_transaction_hash']],
  [{ depositTxHash: txHash }, ['request_transaction_hash']],
  [{ depositAddress }, ['orders_deposit_address']],
  [{ term }, ['orders_pkey', 'orders_paid_user', 'orders_deposit_address', 'request_transaction_hash']],
])('Q-79: %j is answered from its index', async (filter, indexes) => {
  const plan = await planOf(filter)
  for (const index of indexes) expect(plan).toMatch(new RegExp(`using ${index} |on ${index} `))
  expect(plan).not.toContain('Seq Scan on orders')
})

it.each<[RequestFilter, string]>([
  [{}, 'orders_paid_changed'],
  [{ user }, 'orders_changed_user'],
  [{ recipient: user }, 'orders_changed_recipient'],
  [{ status: 'failure' }, 'orders_changed_status'],
  [{ requestType: 'Bridge' }, 'orders_changed_type'],
  [{ referrer: 'an.app' }, 'orders_changed_referrer'],
  [{ originChainId: 137 }, 'orders_changed_origin'],
  [{ destinationChainId: 137 }, 'orders_changed_destination'],
  [{ failReason: 'SLIPPAGE' }, 'orders_changed_failed'],
  [{ term }, 'request_transaction_hash'],
])('Q-79: %j by the last change is answered from its index', async (filter, index) => {
  expect(await planOf(filter, 'updatedAt')).toMatch(new RegExp(`using ${index} |on ${index} `))
})

const hour = 3_600
/** Seconds since 1970, of about half of the history. */
const middleSeconds = Math.floor(Date.now() / 1_000) - 30_000
const middle = (sortBy: SortKey) =>
  ({ sortBy, atMicros: BigInt(middleSeconds) * 1_000_000n, id: `0x${'0'.repeat(64)}` }) as const

async function pagesReadBy(filter: RequestFilter, page: Page): Promise<number> {
  const changedBeforeMicros = page.sortBy === 'updatedAt' ? BigInt(Date.now()) * 1_000n : undefined
  const { text, values } = pageSql({ apiKeyId: filledKey, ...filter }, page, changedBeforeMicros)
  const rows = await testDatabase.database.query(`explain (analyze, buffers) ${text}`, values, {
    isPlannedEachTime: true,
  })
  const [, hit, read = '0'] = /shared hit=(\d+)(?: read=(\d+))?/.exec(JSON.stringify(rows)) ?? []
  if (hit === undefined) throw new Error('the plan tells what it read')
  return Number(hit) + Number(read)
}

it.each(
  sortKeys.flatMap((sortBy) =>
    (['desc', 'asc'] as const).flatMap((direction) => [
      { sortBy, direction, filter: {} },
      {
        sortBy,
        direction,
        filter: { startSeconds: middleSeconds - 7 * hour, endSeconds: middleSeconds + 7 * hour },
      },
    ]),
  ),
)(
  'Q-79: a deep page reads no more than the first: $sortBy $direction $filter',
  async ({ filter, ...order }) => {
    const first = await pagesReadBy(filter, { ...order, limit: 20, after: undefined })
    const deep = await pagesReadBy(filter, { ...order, limit: 20, after: middle(order.sortBy) })
    expect(first).toBeGreaterThan(0)
    expect(deep).toBeLessThan(first + 20)
  },
)
