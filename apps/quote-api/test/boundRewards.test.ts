// Goal: what one process was deposited for lowers the rewards of every other one, from when it is seen until its fill
// shows; and together they promise no more than a day may give away. Method: rows as settling writes them, in a real
// database, read by several processes.
import { startTestDatabase, type TestDatabase } from '@causeway/database'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { assetInventory } from '../src/pricing/market/inventory.ts'
import {
  type BoundRewards,
  createOpenRewards,
  type OpenRewards,
} from '../src/pricing/openQuotes/openRewards.ts'
import { followBoundRewards, rewardToRow } from '../src/requests/orders/boundRewards.ts'
import { toBytes } from '../src/requests/orders/orderColumns.ts'
import { createOrderStore } from '../src/requests/orders/orderStore.ts'
import { bookSkew, readSkewSum, takeSkewBack } from '../src/requests/orders/skewBookings.ts'
import { openedRewards } from './fixtures/market.ts'
import { orderMigrations, orderNamed } from './orderSupport/orders.ts'

let testDatabase: TestDatabase
beforeAll(async () => {
  testDatabase = await startTestDatabase({ directories: [orderMigrations] })
})
beforeEach(() => testDatabase.database.query('truncate orders, skew_booking, reward_claim cascade'))
afterAll(() => testDatabase.stop())

const usd = 10n ** 18n
const usd6 = 10n ** 6n
const places = { received: { assetId: 'usdc', chainId: 1 }, paid: { assetId: 'usdc', chainId: 2 } }

async function store(name: string, isRewarded: boolean): Promise<Buffer> {
  const reward = isRewarded
    ? { reward: rewardToRow({ ...places, usdX18: 7n * usd, microUsd: 5n * usd6 }) }
    : {}
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

function followedBy(openRewards: OpenRewards) {
  return followBoundRewards({
    database: testDatabase.database,
    openRewards,
    quoteLifetimeSeconds: 60,
    now: () => 0,
    onFailure(error) {
      throw error
    },
  })
}

test('Q-42: a deposit counts on every process, from when it is seen until its fill shows', async () => {
  const read: BoundRewards['moves'][] = []
  const follower = followedBy({
    ...openedRewards(),
    putBound({ moves }) {
      read.push(moves)
      return 0n
    },
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
  const move = { ...places, usdX18: 7n * usd, microUsd: 5n * usd6, isBooked: false }
  expect([...(moves?.values() ?? [])][0]).toEqual(move)
})

test('Q-42: a process that cannot read the database gives no reward', async () => {
  const openRewards = openedRewards()
  const failures: unknown[] = []
  const away = () => Promise.reject(new Error('away'))
  const follower = followBoundRewards({
    database: { transaction: away, query: away },
    openRewards,
    quoteLifetimeSeconds: 60,
    now: () => 1_000,
    onFailure: (error) => failures.push(error),
  })
  await follower.refresh()
  expect(failures).toHaveLength(1)
  expect(earnedOf(openRewards, 5n)).toBe(0n)
})

/** So far from its targets that each dollar moved earns a dollar. */
const asset = assetInventory({ kappaBps: 10_000n, rewardCapBps: 10_000n, maxSkewBps: 100n, reserveBps: 0n }, [
  { chainId: 1, balanceUsd: 0n, shareBps: 9_900n },
  { chainId: 2, balanceUsd: 10n ** 12n * usd, shareBps: 100n },
])

/** Reward that a move of so much would earn. */
function earnedOf(openRewards: OpenRewards, usdX18: bigint): bigint {
  const move = { received: { ...places.received, asset }, paid: { ...places.paid, asset }, usdX18 }
  return -openRewards.limitOf({ hasKey: true, nowSeconds: 1 }).rewardOf(-usdX18, move)
}

const process = (processes: number) => {
  const openRewards = createOpenRewards({ processes, keylessBps: 10_000, perDayMicroUsd: 50n * usd6 })
  return { openRewards, ...followedBy(openRewards) }
}

test('Q-46: processes that read at the same time promise together no more than the stated sum', async () => {
  const all = [process(2), process(2), process(2)]
  for (let round = 0; round < 3; round += 1) {
    await Promise.all(all.map(({ refresh }) => refresh()))
    for (const { openRewards } of all) {
      const usdX18 = earnedOf(openRewards, 10n * usd)
      const move = { ...places, usdX18, microUsd: usdX18 / 10n ** 12n }
      openRewards.hold(move, { hasKey: true, endsAtSeconds: 100 })
    }
  }
  const [claims] = await testDatabase.database.query<{ sum: bigint }>(
    'select sum(micro_usd) from reward_claim',
  )
  expect(claims?.sum).toBeLessThanOrEqual(50n * usd6)
  const free = all.reduce((sum, { openRewards }) => sum + earnedOf(openRewards, 1_000n * usd), 0n)
  expect(free).toBeLessThanOrEqual(10n * usd)
})

test('Q-46: what a process promised counts after its end, until its quotes have ended', async () => {
  const gone = process(1)
  await gone.refresh()
  expect(earnedOf(gone.openRewards, 1_000n * usd)).toBe(50n * usd)
  const next = process(1)
  await next.refresh()
  expect(earnedOf(next.openRewards, usd)).toBe(0n)
  await testDatabase.database.query(`update reward_claim set ends_at = now() - interval '1 second'`)
  await next.refresh()
  expect(earnedOf(next.openRewards, 1_000n * usd)).toBe(50n * usd)
})

test('Q-46: a deposit that is not bound yet counts with its reward, and once where it is', async () => {
  const request = await store('seen', true)
  await seen(request, 'seen')
  const left = async () => {
    const { openRewards, refresh } = process(1)
    await testDatabase.database.query('delete from reward_claim')
    await refresh()
    return earnedOf(openRewards, 1_000n * usd)
  }
  expect(await left()).toBe(45n * usd)
  await book('seen', -5n * usd6, false)
  expect(await left()).toBe(45n * usd)
})

const book = (name: string, microUsd: bigint, isFilled: boolean) =>
  testDatabase.database.transaction((tx) =>
    bookSkew(tx, { requestId: orderNamed(name).requestId, microUsd, isFilled }),
  )
const goesBack = (name: string, isFilled: boolean) =>
  testDatabase.database.transaction((tx) =>
    takeSkewBack(tx, { requestId: orderNamed(name).requestId, isFilled }),
  )

test('Q-46: a cost counts once its order is filled, a reward once it is bound, and neither where it went back', async () => {
  const sum = () => readSkewSum(testDatabase.database)
  await book('out', 8n, false)
  await book('back', -3n, false)
  expect(await sum()).toBe(-3n)
  await book('out', 8n, true)
  await book('back', -3n, true)
  expect(await sum()).toBe(5n)
  // Its deposit left its chain, and a smaller one took its place.
  await goesBack('out', true)
  await goesBack('back', true)
  expect(await sum()).toBe(-3n)
  await book('out', 6n, true)
  await goesBack('back', false)
  expect(await sum()).toBe(6n)
})

test('Q-46: what was booked counts for 24 hours, and is forgotten then', async () => {
  const { database } = testDatabase
  await book('old', 8n, true)
  await book('new', 5n, true)
  const old = [toBytes(orderNamed('old').requestId)]
  await database.query(
    `update skew_booking set booked_at = now() - interval '24 hours' where request_id = $1`,
    old,
  )
  expect(await readSkewSum(database)).toBe(5n)
  await process(1).refresh()
  expect(await database.query('select micro_usd from skew_booking')).toEqual([{ micro_usd: 5n }])
})
