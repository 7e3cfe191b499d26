// Goal: what one process was deposited for lowers the rewards of every other one, from when it is seen until its fill shows.
// Method: rows as settling writes them, in a real database, read by a second process.
import { startTestDatabase, type TestDatabase } from '@causeway/database'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createOpenRewards } from '../src/pricing/openRewards.ts'
import { followBoundRewards, rewardToRow } from '../src/requests/orders/boundRewards.ts'
import { toBytes } from '../src/requests/orders/orderColumns.ts'
import { createOrderStore } from '../src/requests/orders/orderStore.ts'
import { orderMigrations, orderNamed } from './orderSupport/orders.ts'

let testDatabase: TestDatabase
beforeAll(async () => {
  testDatabase = await startTestDatabase({ directories: [orderMigrations] })
})
afterAll(() => testDatabase.stop())

const usd = 10n ** 18n
const places = { received: { assetId: 'usdc', chainId: 1 }, paid: { assetId: 'usdc', chainId: 2 } }

async function store(name: string, isRewarded: boolean): Promise<Buffer> {
  const reward = isRewarded ? { reward: rewardToRow({ ...places, usdX18: 7n * usd }) } : {}
  const order = orderNamed(name, { quoted: JSON.stringify({ amountIn: '1', ...reward }) })
  await createOrderStore({ database: testDatabase.database }).save(order)
  return toBytes(order.requestId)
}

/** @returns the deposit's id */
async function seen(request: Buffer, state: string): Promise<bigint> {
  const [row] = await testDatabase.database.query<{ id: bigint }>(
    `insert into deposit_seen (chain_id, tx_hash, onchain_index, block_number, block_hash, block_time, order_id,
       request_id, depositor, currency, amount, state)
     select 1, encode(request_id, 'hex'), '0', 1, 'b', now(), order_id, request_id, 'd', 'c', 1, $2
     from orders where request_id = $1 returning id`,
    [request, state],
  )
  if (row === undefined) throw new Error('the deposit has its order')
  return row.id
}

async function settle(request: Buffer, stage: string): Promise<void> {
  const deposit = await seen(request, 'taken')
  await testDatabase.database.query(
    'insert into settlement (request_id, deposit_id, stage, is_bound) values ($1, $2, $3, true)',
    [request, deposit, stage],
  )
}

const work = (request: Buffer, kind: string) =>
  testDatabase.database.query(
    `insert into work_item (kind, request_id, chain_id, payload) values ($2, $1, 1, '{}')`,
    [request, kind],
  )

test('Q-42: a deposit counts on every process, from when it is seen until its fill shows', async () => {
  const { database } = testDatabase
  const read: (ReadonlyMap<string, unknown> | undefined)[] = []
  const follower = followBoundRewards({
    database,
    openRewards: { putBound: (moves) => read.push(moves) },
    now: () => 0,
    onFailure: () => {},
  })
  await store('only quoted', true)
  await seen(await store('without a reward', false), 'seen')
  await seen(await store('ignored', true), 'ignored')
  for (const stage of ['settled', 'refunding', 'refunded']) await settle(await store(stage, true), stage)
  await follower.refresh()
  expect(read.pop()).toEqual(new Map())

  await seen(await store('seen', true), 'seen')
  for (const stage of ['filling', 'filled']) await settle(await store(stage, true), stage)
  for (const kind of ['sweep', 'permit']) await work(await store(kind, true), kind)
  await follower.refresh()
  const names = ['seen', 'filling', 'filled', 'sweep', 'permit'].map((name) => orderNamed(name).requestId)
  const moves = read.pop()
  expect([...(moves?.keys() ?? [])].sort()).toEqual(names.sort())
  expect([...(moves?.values() ?? [])][0]).toEqual({ ...places, usdX18: 7n * usd })
})

test('Q-42: a process that cannot read the database gives no reward', async () => {
  const openRewards = createOpenRewards({ processes: 1, keylessBps: 10_000 })
  openRewards.putBound(new Map(), 0)
  const failures: unknown[] = []
  const follower = followBoundRewards({
    database: { query: () => Promise.reject(new Error('away')) },
    ...{ openRewards, now: () => 1_000, onFailure: (error) => failures.push(error) },
  })
  await follower.refresh()
  expect(failures).toHaveLength(1)
  const inventory = new Map([[1, { balanceUsd: 0n, shareBps: 5_000n }]])
  const asset = {
    ...{ parameters: { kappaBps: 20n, rewardCapBps: 10n, maxSkewBps: 100n, reserveBps: 0n }, totalUsd: usd },
    ...{ chains: inventory, squaresPerShare: 0n, shareSumBps: 5_000n, potentialTerm: 0n },
  }
  const move = { received: { ...places.received, asset }, paid: { ...places.paid, asset }, usdX18: usd }
  expect(openRewards.boundOf({ hasKey: true, nowSeconds: 1 }).rewardOf(-5n, move)).toBe(0n)
})
