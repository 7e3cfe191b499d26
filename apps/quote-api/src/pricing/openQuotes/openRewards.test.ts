// Goal: nobody earns by timing. Whatever is open, bound or ends in whatever order, all rewards together are at most
// what the same moves earn one after the other, and who earns none pays the same whatever is open. Method: the attack on
// the routes, and the memory itself beside an inventory that is moved for real.
import fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import { testApp } from '../../../test/fixtures/app.ts'
import { leastSeen } from '../../../test/fixtures/leastSeen.ts'
import {
  chainA,
  chainB,
  native,
  noBudget,
  openedRewards,
  recipient,
  testChainMarket,
  testSnapshot,
  usdc,
  user,
} from '../../../test/fixtures/market.ts'
import { linkedKey, testApiKeys } from '../../../test/fixtures/sponsor.ts'
import { wholeRewards } from '../../../test/fixtures/wholeRewards.ts'
import { afterMoves, assetInventory, skewCostUsd } from '../market/inventory.ts'
import { type BoundMove, createOpenRewards, type HeldReward, type OpenRewards } from './openRewards.ts'
import type { RatedMove } from './rewardLimit.ts'

const usd6 = 10n ** 6n

const stocked = (onA: bigint, onB: bigint) =>
  testSnapshot({
    chains: [
      testChainMarket(chainA, { inventory: { [native]: 500n * 10n ** 18n, [usdc]: onA * usd6 } }),
      testChainMarket(chainB, { inventory: { [native]: 500n * 10n ** 18n, [usdc]: onB * usd6 } }),
    ],
  })

const half = { processes: 1, keylessBps: 5_000 }

/** A market that 590,000 USDC have left on chain B. */
async function asking(key: string | undefined) {
  let open = openedRewards(half)
  const market = { current: stocked(1_590_000n, 410_000n) }
  const openRewards = {
    ...open,
    limitOf: (asker: Parameters<typeof open.limitOf>[0]) => open.limitOf(asker),
    hold: (...held: Parameters<typeof open.hold>) => open.hold(...held),
  }
  const app = await testApp({ apiKeys: testApiKeys, config: { kappaBps: 20 }, market, openRewards })
  onTestFinished(() => app.close())
  const ask = async (change: object = {}, { url = '/quote', by = key } = {}) => {
    const answer = await app.inject({
      method: 'POST',
      url,
      headers: by === undefined ? {} : { 'x-api-key': by },
      payload: {
        user,
        recipient,
        originChainId: chainB,
        destinationChainId: chainA,
        tradeType: 'EXACT_INPUT',
        originCurrency: usdc,
        destinationCurrency: usdc,
        amount: `${10_000n * usd6}`,
        ...change,
      },
    })
    expect(answer.statusCode).toBe(200)
    return BigInt(answer.json().details.currencyOut.amount)
  }
  return {
    ask,
    earned: () => app.stored.reduce((sum, { quote: { priced } }) => sum - priced.split.parts.skew, 0n),
    parallel: (count: number, change: object = {}) =>
      Promise.all(Array.from({ length: count }, () => ask(change))),
    /** Settles everything that was asked for before: `moved` USDC came to chain B, and went from chain A. */
    settle(moved: bigint) {
      open = openedRewards(half)
      market.current = stocked(1_590_000n - moved, 410_000n + moved)
    },
  }
}

describe('rewards of quotes that are open together', () => {
  test.each([
    ['with a key', linkedKey],
    ['without a key', undefined],
  ])('Q-40: 59 parallel quotes %s earn at most what 59 in a row do', async (_what, key) => {
    const together = await asking(key)
    await together.parallel(59)
    const inARow = await asking(key)
    for (let round = 0n; round < 59n; round += 1n) {
      inARow.settle(10_000n * round)
      await inARow.ask()
    }
    expect(together.earned()).toBeGreaterThan(0n)
    expect(together.earned()).toBeLessThanOrEqual(inARow.earned())
  })

  test('Q-40: a quote that earns nothing costs the same whatever is open', async () => {
    const { ask, parallel } = await asking(undefined)
    const without = [
      { originChainId: chainA, destinationChainId: chainB },
      { originChainId: chainA, destinationChainId: chainB, tradeType: 'EXACT_OUTPUT' },
    ]
    const before = []
    for (const change of without) before.push(await ask(change))
    await parallel(59)
    const after = []
    for (const change of without) after.push(await ask(change))
    expect(after).toEqual(before)
  })

  test('Q-40: /price names what /quote gives, and neither falls below the input less fees', async () => {
    const { ask, parallel } = await asking(linkedKey)
    const alone = await ask({}, { url: '/price' })
    await parallel(70)
    const [price, quote] = [await ask({}, { url: '/price' }), await ask()]
    expect(quote).toBe(price)
    expect(price).toBeLessThan(alone)
    // Only the flat fee and gas are left of what it costs.
    expect(price).toBeGreaterThan(9_999n * usd6)
  })

  test('Q-41: callers without a key hold half of the rewards, and leave the rest to keys', async () => {
    const { ask, earned, parallel, settle } = await asking(undefined)
    settle(0n)
    await parallel(120, { amount: `${5_000n * usd6}` })
    const ofKeyless = earned()
    const first = await ask({ amount: `${5_000n * usd6}` }, { url: '/price' })
    const ofKey = await ask({ amount: `${5_000n * usd6}` }, { url: '/price', by: linkedKey })
    expect(ofKeyless).toBeGreaterThan(0n)
    expect(ofKey).toBeGreaterThan(first)
  })
})

const usd = 10n ** 18n
const uncapped = 10_000n
const balances = fc.record({
  onA: fc.bigInt(0n, 5_000_000n),
  onB: fc.bigInt(0n, 5_000_000n),
  onC: fc.bigInt(0n, 5_000_000n),
})
const inventoryOf = ({ onA, onB, onC }: Pair['usdc'], rewardCapBps: bigint) =>
  assetInventory({ kappaBps: 20n, rewardCapBps, maxSkewBps: 100n, reserveBps: 500n }, [
    { chainId: 1, balanceUsd: onA * usd, shareBps: 5_000n },
    { chainId: 2, balanceUsd: onB * usd, shareBps: 3_000n },
    { chainId: 3, balanceUsd: onC * usd, shareBps: 2_000n },
  ])
/** One pair, of one asset or of two. */
const pairs = fc.record({
  usdc: balances,
  eth: balances,
  isOneAsset: fc.boolean(),
  rewardCapBps: fc.constantFrom<bigint>(10n, uncapped),
})
type Pair = typeof pairs extends fc.Arbitrary<infer T> ? T : never

function movable({ usdc: of, eth, isOneAsset, rewardCapBps }: Pair) {
  const received = inventoryOf(of, rewardCapBps)
  const paid = isOneAsset ? received : inventoryOf(eth, rewardCapBps)
  const paidId = isOneAsset ? 'usdc' : 'eth'
  /** The pair's inventories once so much was moved from chain 1 to chain 2. */
  const rated = (movedUsd: bigint, usdX18: bigint): RatedMove => {
    const out = new Map([[2, -movedUsd]])
    const both = new Map([[1, movedUsd], ...(isOneAsset ? out : [])])
    const asset = afterMoves(received, both)
    return {
      received: { assetId: 'usdc', chainId: 1, asset },
      paid: { assetId: paidId, chainId: 2, asset: isOneAsset ? asset : afterMoves(paid, out) },
      usdX18,
    }
  }
  const costOf = ({ received: to, paid: from, usdX18 }: RatedMove) =>
    skewCostUsd({ ...to, deltaUsd: usdX18 }, { ...from, deltaUsd: -usdX18 })
  return { rated, costOf }
}

const rewarded = (move: RatedMove, usdX18 = 0n) => ({ ...move, microUsd: usdX18 / 10n ** 12n + 1n })
const positive = (value: bigint) => (value > 0n ? value : 0n)
/** Each rounds its part of a dollar's 18 digits. */
const slack = 1_000n

const steps = fc.array(
  fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({
        do: fc.constant('ask'),
        usd: fc.bigInt(1n, 300_000n),
        hasKey: fc.boolean(),
        at: fc.nat(2),
      }),
    },
    { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('deposit', 'fill', 'expire'), of: fc.nat() }) },
  ),
  { minLength: 1, maxLength: 40 },
)

type Quoted = {
  readonly usdX18: bigint
  readonly reward: bigint
  readonly hasKey: boolean
  readonly held: HeldReward
  readonly id: `0x${string}`
  state: 'open' | 'bound' | 'filled' | 'expired'
}

/** Asks, deposits, fills and lets expire, over several processes that see what is bound. */
function run(
  pair: Pair,
  story: typeof steps extends fc.Arbitrary<infer T> ? T : never,
  settings: { processes: number; keylessBps: number },
) {
  const { rated, costOf } = movable(pair)
  const processes = Array.from({ length: settings.processes }, () => openedRewards(settings))
  const quotes: Quoted[] = []
  let filledUsd = 0n
  let now = 0
  for (const step of story) {
    if ('usd' in step) {
      const move = rated(filledUsd, step.usd * usd)
      const cost = costOf(move)
      const at = processes[step.at % processes.length]
      if (cost >= 0n || at === undefined) continue
      const bounded = at.limitOf({ hasKey: step.hasKey, nowSeconds: now }).rewardOf(cost, move)
      expect(bounded).toBeGreaterThanOrEqual(cost)
      expect(bounded).toBeLessThanOrEqual(0n)
      if (bounded === 0n) continue
      const held = at.hold(rewarded(move, -bounded), {
        hasKey: step.hasKey,
        endsAtSeconds: Number.MAX_SAFE_INTEGER,
      })
      const id = `0x${quotes.length}` as const
      held.name(id)
      quotes.push({ usdX18: move.usdX18, reward: -bounded, hasKey: step.hasKey, held, id, state: 'open' })
      continue
    }
    const wanted = step.do === 'fill' ? 'bound' : 'open'
    const able = quotes.filter(({ state }) => state === wanted)
    const quote = able[step.of % Math.max(able.length, 1)]
    if (quote === undefined) continue
    if (step.do === 'expire') {
      quote.state = 'expired'
      quote.held.release()
    } else if (step.do === 'deposit') quote.state = 'bound'
    else {
      quote.state = 'filled'
      filledUsd += quote.usdX18
      // Long after, the inventory shows it.
      now += 31
    }
    const bound = quotes.filter(({ state }) => state === 'bound')
    const moves = new Map<`0x${string}`, BoundMove>(
      bound.map(({ id, usdX18 }) => [id, { ...rewarded(rated(0n, usdX18)), isBooked: true }]),
    )
    for (const process of processes) process.putBound({ moves, ...noBudget }, now)
  }
  const earning = quotes.filter(({ state }) => state !== 'expired')
  let movedUsd = 0n
  let inARow = 0n
  for (const { usdX18 } of earning) {
    inARow += positive(-costOf(rated(movedUsd, usdX18)))
    movedUsd += usdX18
  }
  const sumOf = (some: readonly Quoted[]) => some.reduce((sum, { reward }) => sum + reward, 0n)
  return {
    earned: sumOf(earning),
    inARow,
    ofKeyless: sumOf(earning.filter(({ hasKey }) => !hasKey)),
    count: earning.length,
  }
}

test('Q-42: a request that is judged late finds what others leave of a reward, and not its own', () => {
  const openRewards = openedRewards()
  const side = { onA: 100_000n, onB: 900_000n, onC: 500_000n }
  const { rated, costOf } = movable({ usdc: side, eth: side, isOneAsset: true, rewardCapBps: uncapped })
  const move = rated(0n, 300_000n * usd)
  const cost = costOf(move)
  const bounded = (without?: `0x${string}`) =>
    openRewards.limitOf({ hasKey: true, nowSeconds: 0, ...(without && { without }) }).rewardOf(cost, move)
  openRewards.bind('0x1', rewarded(move), 0)
  expect(bounded('0x1')).toBe(cost)
  openRewards.bind('0x2', rewarded(move), 0)
  expect(bounded('0x1')).toBeGreaterThan(cost / 2n)
})

describe('a reward of a whole amount', () => {
  const ask = (usdX18: bigint): RatedMove => ({ ...wholeRewards, usdX18 })
  const moveOf = (microUsd: bigint) => ({ ...ask(microUsd * 10n ** 12n), microUsd })
  const perDayMicroUsd = 100n * usd6
  const [keyed, keyless] = [{ hasKey: true }, { hasKey: false }]
  /** Whole micro-dollars that one more quote would earn, at most 1,000 USD. */
  const left = (rewards: OpenRewards, asker: { hasKey: boolean; without?: `0x${string}` }, nowSeconds = 0) =>
    -rewards.limitOf({ ...asker, nowSeconds }).rewardOf(-1_000n * usd, ask(1_000n * usd)) / 10n ** 12n

  test('Q-41: is held from its quote to the end of its price, and none is without a key where that is off', () => {
    const rewards = openedRewards({ perDayMicroUsd, keylessBps: 5_000 })
    const ends = { endsAtSeconds: 60 }
    const held = rewards.hold(moveOf(10n * usd6), { ...keyless, ...ends })
    rewards.hold(moveOf(30n * usd6), { ...keyed, ...ends })
    expect([left(rewards, keyed), left(rewards, keyless)]).toEqual([60n * usd6, 40n * usd6])
    held.release()
    held.release()
    expect([left(rewards, keyed), left(rewards, keyless)]).toEqual([70n * usd6, 50n * usd6])
    expect([left(rewards, keyed, 60), left(rewards, keyed, 61)]).toEqual([70n * usd6, 100n * usd6])
    const off = openedRewards({ perDayMicroUsd, keylessBps: 0 })
    expect([left(off, keyed), left(off, keyless)]).toEqual([perDayMicroUsd, 0n])
  })

  test('Q-42: counts once from quote over deposit to booking, and not against its own late judgement', () => {
    const rewards = openedRewards({ perDayMicroUsd })
    const move = moveOf(30n * usd6)
    const listed = (isBooked: boolean, bookedMicroUsd: bigint, nowSeconds: number) => {
      const moves = new Map([['0x1' as const, { ...move, isBooked }]])
      rewards.putBound({ moves, ...noBudget, bookedMicroUsd }, nowSeconds)
      rewards.confirmClaim()
    }
    const seen = () => [left(rewards, keyed), left(rewards, { ...keyed, without: '0x1' })]
    const [others, own] = [70n * usd6, 100n * usd6]
    rewards.hold(move, { ...keyed, endsAtSeconds: 600 }).name('0x1')
    expect(seen()).toEqual([others, others])
    rewards.bind('0x1', move, 0)
    expect(seen()).toEqual([others, own])
    listed(false, 0n, 0)
    expect(seen()).toEqual([others, own])
    // Bound again, as when its deposit is looked at again: it is in the figures already.
    rewards.bind('0x1', move, 0)
    expect(seen()).toEqual([others, own])
    listed(true, -30n * usd6, 0)
    rewards.bind('0x1', move, 0)
    expect(seen()).toEqual([others, others])
    // Filled and shown by the inventory, it counts in what is booked alone.
    rewards.putBound({ moves: new Map(), ...noBudget, bookedMicroUsd: -30n * usd6 }, 31)
    expect(left(rewards, keyed, 31)).toBe(others)
  })

  test('Q-46: leaves its part to the next claim once its price has ended or the inventory shows it', () => {
    const rewards = openedRewards({ perDayMicroUsd, processes: 2 })
    const read = (moves: [`0x${string}`, BoundMove][], nowSeconds: number) =>
      rewards.putBound({ moves: new Map(moves), ...noBudget }, nowSeconds)
    rewards.hold(moveOf(30n * usd6), { ...keyed, endsAtSeconds: 60 })
    // Half of 100 less 30 and 20, beside what is held.
    expect(read([['0x1', { ...moveOf(20n * usd6), isBooked: false }]], 30)).toBe(55n * usd6)
    expect(read([], 61)).toBe(50n * usd6)
  })

  test('Q-42: a quote whose request is listed as bound counts no more as open', () => {
    const rewards = openedRewards({ perDayMicroUsd })
    const move = moveOf(30n * usd6)
    rewards.hold(move, { ...keyed, endsAtSeconds: 600 }).name('0x1')
    rewards.putBound({ moves: new Map([['0x1', { ...move, isBooked: false }]]), ...noBudget }, 0)
    rewards.confirmClaim()
    expect(left(rewards, keyed)).toBe(70n * usd6)
  })
})

test('Q-42: while nobody knows what is bound, nobody earns', () => {
  const openRewards = createOpenRewards({ processes: 1, keylessBps: 10_000, perDayMicroUsd: 10n ** 12n })
  const side = { onA: 100_000n, onB: 900_000n, onC: 500_000n }
  const { rated, costOf } = movable({ usdc: side, eth: side, isOneAsset: true, rewardCapBps: uncapped })
  const move = rated(0n, 1_000n * usd)
  const bounded = () => openRewards.limitOf({ hasKey: true, nowSeconds: 0 }).rewardOf(costOf(move), move)
  const read = () => openRewards.putBound({ moves: new Map(), ...noBudget }, 0)
  expect(bounded()).toBe(0n)
  read()
  openRewards.confirmClaim()
  expect(bounded()).toBe(costOf(move))
  openRewards.forgetBound()
  expect(bounded()).toBe(0n)
})

describe('over random inventories, amounts and orders of quotes, deposits, fills and expiries', () => {
  test('Q-40: one process gives no more than the same moves earn in a row', () => {
    let several = 0
    fc.assert(
      fc.property(pairs, steps, fc.integer({ min: 1, max: 10_000 }), (pair, story, keylessBps) => {
        const { earned, inARow, count } = run(pair, story, { processes: 1, keylessBps })
        expect(earned).toBeLessThanOrEqual(inARow + slack)
        if (count > 3) several += 1
      }),
      { numRuns: 500, endOnFailure: true },
    )
    expect(several).toBeGreaterThanOrEqual(leastSeen(30, 500))
  })

  test('Q-40: several processes give at once no more than one, and in any order less than twice as much', () => {
    fc.assert(
      fc.property(pairs, steps, fc.integer({ min: 2, max: 3 }), (pair, story, processes) => {
        const settings = { processes, keylessBps: 10_000 }
        const asked = story.filter((step) => 'usd' in step)
        const atOnce = run({ ...pair, rewardCapBps: uncapped }, asked, settings)
        expect(atOnce.earned).toBeLessThanOrEqual(atOnce.inARow + slack)
        const { earned, inARow } = run(pair, story, settings)
        expect(earned).toBeLessThanOrEqual(2n * inARow + slack)
      }),
      { numRuns: 500, endOnFailure: true },
    )
  })

  test('Q-41: what callers without a key hold at once is at most their part of all rewards', () => {
    fc.assert(
      fc.property(pairs, steps, fc.integer({ min: 0, max: 10_000 }), (drawn, story, keylessBps) => {
        const pair = { ...drawn, rewardCapBps: uncapped }
        const asked = story.flatMap((step) => ('usd' in step ? [{ ...step, hasKey: false }] : []))
        const { ofKeyless } = run(pair, asked, { processes: 1, keylessBps })
        // In small steps to beyond what the story moves: all that can be earned.
        const { rated, costOf } = movable(pair)
        let all = 0n
        for (let movedUsd = 0n; movedUsd < 12_000_000n; movedUsd += 20_000n)
          all += positive(-costOf(rated(movedUsd * usd, 20_000n * usd)))
        const most = (all * BigInt(keylessBps)) / 10_000n
        expect(ofKeyless).toBeLessThanOrEqual(most + usd + most / 100n)
      }),
      { numRuns: 40, endOnFailure: true },
    )
  })
})
