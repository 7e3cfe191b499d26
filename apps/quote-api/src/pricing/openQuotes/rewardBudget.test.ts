// Goal: whatever rewards are taken by, they give away a stated sum a day beside what filled orders paid, and no more.
// Method: the way out in parallel and the way back in a row, on the routes; and any number of processes beside a database
// that each of them reads at its own time.
import fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
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
} from '../../../test/fixtures/market.ts'
import { linkedKey, testApiKeys } from '../../../test/fixtures/sponsor.ts'
import { wholeRewards } from '../../../test/fixtures/wholeRewards.ts'
import { type BoundMove, createOpenRewards, type HeldReward, type OpenRewards } from './openRewards.ts'
import { createRewardBudget, skewMicroUsd } from './rewardBudget.ts'

const usd6 = 10n ** 6n
const usd = 10n ** 18n
const perDayMicroUsd = 50n * usd6

const stocked = (onA: bigint, onB: bigint) =>
  testSnapshot({
    chains: [
      testChainMarket(chainA, { inventory: { [native]: 500n * usd, [usdc]: onA * usd6 } }),
      testChainMarket(chainB, { inventory: { [native]: 500n * usd, [usdc]: onB * usd6 } }),
    ],
  })

/** A service whose orders are all deposited for and filled at once. */
async function trading() {
  const openRewards = openedRewards({ perDayMicroUsd })
  const market = { current: stocked(1_000_000n, 1_000_000n) }
  let earned = 0n
  let trades = 0
  const app = await testApp({ apiKeys: testApiKeys, config: { kappaBps: 20 }, market, openRewards })
  onTestFinished(() => app.close())
  /** Quotes of 10,000 USDC that are asked for together, and what they earned. */
  const trade = async (count: number, originChainId: number, destinationChainId: number) => {
    const before = app.stored.length
    trades += 1
    const user = `0x${trades.toString(16).padStart(40, '0')}`
    const payload = {
      user,
      recipient,
      originChainId,
      destinationChainId,
      tradeType: 'EXACT_INPUT',
      originCurrency: usdc,
      destinationCurrency: usdc,
      amount: `${10_000n * usd6}`,
    }
    const ask = () =>
      app.inject({ method: 'POST', url: '/quote', headers: { 'x-api-key': linkedKey }, payload })
    const answers = await Promise.all(Array.from({ length: count }, ask))
    for (const { statusCode } of answers) expect(statusCode).toBe(200)
    const moves = new Map<`0x${string}`, BoundMove>()
    for (const { quote } of app.stored.slice(before)) {
      earned -= quote.priced.split.parts.skew
      const place = { assetId: 'usdc', chainId: originChainId }
      const move = { received: place, paid: place, usdX18: 0n, microUsd: 0n, isBooked: true }
      moves.set(quote.requestId, move)
    }
    openRewards.putBound({ moves, bookedMicroUsd: -earned, claimedMicroUsd: 0n }, 0)
    openRewards.confirmClaim()
    return earned
  }
  return { trade, market }
}

test('Q-46: a way out in parallel and a way back in a row earn the stated sum a day, and no more', async () => {
  const { trade, market } = await trading()
  let earned = 0n
  for (let round = 0; round < 2; round += 1) {
    await trade(59, chainA, chainB)
    for (let left = 590_000n; left > 0n; left -= 10_000n) {
      market.current = stocked(1_000_000n + left, 1_000_000n - left)
      earned = await trade(1, chainB, chainA)
    }
    market.current = stocked(1_000_000n, 1_000_000n)
  }
  expect(earned).toBeGreaterThan((perDayMicroUsd * 9n) / 10n)
  expect(earned).toBeLessThanOrEqual(perDayMicroUsd)
})

test('Q-46: a cost counts for no more than it is worth, and a reward for no less', () => {
  const price = { decimals: 18, usdX18: 2_500n * usd }
  const wei = 10n ** 12n
  expect([wei, wei - 1n, 1n, -1n, -wei].map((skew) => skewMicroUsd(skew, price))).toEqual([
    2_500n,
    2_499n,
    0n,
    -1n,
    -2_500n,
  ])
})

test('Q-41, Q-46: a process promises its part of what is free, once its claim is stored, and half of it without a key', () => {
  const budget = createRewardBudget({ perDayMicroUsd: 1_000n, processes: 3, keylessBps: 5_000 })
  const [keyed, keyless] = [{ hasKey: true }, { hasKey: false }]
  const left = () => [budget.left(keyed), budget.left(keyless)]
  const claim = (bookedMicroUsd: bigint, claimedMicroUsd = 0n, pendingMicroUsd = 0n) =>
    budget.claim({ bookedMicroUsd, claimedMicroUsd }, pendingMicroUsd)
  // A third of 1,000 + 200 − 90 − 30.
  expect([claim(200n, 90n, 30n), left()]).toEqual([360n, [0n, 0n]])
  budget.confirm()
  expect(left()).toEqual([360n, 180n])
  budget.hold(100n, keyless)
  budget.hold(50n, keyed)
  expect(left()).toEqual([210n, 80n])
  budget.release(40n, keyless)
  budget.spend(70n)
  budget.spend(60n)
  expect(left()).toEqual([120n, 120n])
  // A lower claim holds at once: 110 are held, and a third of 1,000 − 500 − 110 is free. What was spent is in its figures.
  expect([claim(-500n), left()]).toEqual([240n, [130n, 60n]])
  // A higher one does not, and a deficit is borne whole, while what is held stays claimed.
  expect([claim(2_000n), left()[0]]).toEqual([1_073n, 130n])
  expect([claim(-900n), left()[0]]).toEqual([110n, -10n])
  budget.release(110n - 10n, keyed)
  expect(claim(-990n)).toBe(10n)
  expect(claim(-989n)).toBe(10n)
})

test('Q-46: what is left lowers a reward to nothing, and nothing else', () => {
  const open = (bookedMicroUsd: bigint) => openedRewards({ perDayMicroUsd }, { bookedMicroUsd })
  const rewardOf = (openRewards: OpenRewards, usdX18: bigint) =>
    openRewards.limitOf({ hasKey: true, nowSeconds: 0 }).rewardOf(-usdX18, { ...wholeRewards, usdX18 })
  expect(rewardOf(open(0n), 40n * usd)).toBe(-40n * usd)
  expect(rewardOf(open(0n), 60n * usd)).toBe(-50n * usd)
  expect(rewardOf(open(-20n * usd6), 60n * usd)).toBe(-30n * usd)
  expect(rewardOf(open(-80n * usd6), 60n * usd)).toBe(0n)
  expect(rewardOf(open(7n * usd6), 60n * usd)).toBe(-57n * usd)
})

test('Q-46: a request that is judged late finds its own part, and nothing where others took all', () => {
  const move = { ...wholeRewards, usdX18: 30n * usd, microUsd: 30n * usd6 }
  const moves = new Map([['0x1' as const, { ...move, isBooked: false }]])
  const rewardOf = (bookedMicroUsd: bigint) =>
    openedRewards({ perDayMicroUsd }, { moves, bookedMicroUsd })
      .limitOf({ hasKey: true, nowSeconds: 0, without: '0x1' })
      .rewardOf(-30n * usd, move)
  expect(rewardOf(-10n * usd6)).toBe(-30n * usd)
  expect(rewardOf(-30n * usd6)).toBe(-20n * usd)
  expect(rewardOf(-60n * usd6)).toBe(0n)
})

const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('ask' as const),
      usd: fc.bigInt(1n, 60n),
      at: fc.nat(2),
      hasKey: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('read' as const), at: fc.nat(2) }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constantFrom('see', 'bind', 'refund', 'expire'), of: fc.nat() }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('pay' as const), usd: fc.bigInt(1n, 40n) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('restart' as const), at: fc.nat(2) }) },
)
type Quoted = {
  readonly id: `0x${string}`
  readonly move: Omit<BoundMove, 'isBooked'>
  readonly held: HeldReward
  readonly process: Process
  state: 'open' | 'seen' | 'bound' | 'ended'
}
type Process = { openRewards: OpenRewards; claimed: bigint }

/** @returns the most that was promised above what was paid, after any step */
function run(story: readonly (typeof step extends fc.Arbitrary<infer T> ? T : never)[], processes: number) {
  const settings = { processes, keylessBps: 5_000, perDayMicroUsd }
  const start = (): Process => ({ openRewards: createOpenRewards(settings), claimed: 0n })
  const live = Array.from({ length: processes }, start)
  const left: Process[] = []
  const quotes: Quoted[] = []
  let paid = 0n
  let most = 0n
  const sumOf = (states: readonly Quoted['state'][]) =>
    quotes.reduce((sum, { state, move }) => sum + (states.includes(state) ? move.microUsd : 0n), 0n)
  const read = (process: Process) => {
    const moves = new Map(
      quotes.flatMap(({ id, move, state }) =>
        state === 'seen' || state === 'bound' ? [[id, { ...move, isBooked: state === 'bound' }]] : [],
      ),
    )
    const others = [...live, ...left].filter((other) => other !== process)
    const claimedMicroUsd = others.reduce((sum, { claimed }) => sum + claimed, 0n)
    const { openRewards } = process
    process.claimed = openRewards.putBound(
      { moves, bookedMicroUsd: paid - sumOf(['bound']), claimedMicroUsd },
      0,
    )
    openRewards.confirmClaim()
  }
  for (const process of live) read(process)
  const next = { see: 'seen', bind: 'bound', refund: 'ended', expire: 'ended' } as const
  const from = { see: 'open', bind: 'seen', refund: 'bound', expire: 'open' } as const
  for (const taken of story) {
    if (taken.do === 'pay') paid += taken.usd * usd6
    else if ('of' in taken) {
      const { do: what } = taken
      const able = quotes.filter(({ state }) => state === from[what])
      const quote = able[taken.of % Math.max(able.length, 1)]
      if (quote === undefined) continue
      quote.state = next[what]
      if (what === 'expire') quote.held.release()
    } else {
      const at = taken.at % processes
      const process = live[at]
      if (process === undefined) continue
      if (taken.do === 'read') read(process)
      else if (taken.do === 'restart') {
        left.push(process)
        live[at] = start()
      } else {
        const { hasKey } = taken
        const usdX18 = taken.usd * usd
        const { openRewards } = process
        const cost = openRewards
          .limitOf({ hasKey, nowSeconds: 0 })
          .rewardOf(-usdX18, { ...wholeRewards, usdX18 })
        if (cost === 0n) continue
        const move = { ...wholeRewards, usdX18, microUsd: -cost / 10n ** 12n }
        const held = openRewards.hold(move, { hasKey, endsAtSeconds: Number.MAX_SAFE_INTEGER })
        const id = `0x${quotes.length}` as const
        held.name(id)
        quotes.push({ id, move, held, process, state: 'open' })
      }
    }
    // The claim of a process that is gone ends with its quotes.
    for (const gone of left)
      if (!quotes.some(({ state, process }) => process === gone && state === 'open')) gone.claimed = 0n
    const promised = sumOf(['open', 'seen', 'bound'])
    if (promised - paid > most) most = promised - paid
  }
  return most
}

test.each([1, 2, 3])(
  'Q-46: %i processes promise together no more, in any order and over restarts',
  (count) => {
    let many = 0
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 60 }), (story) => {
        const most = run(story, count)
        expect(most).toBeLessThanOrEqual(perDayMicroUsd)
        if (most > perDayMicroUsd / 2n) many += 1
      }),
      { numRuns: 400, endOnFailure: true },
    )
    expect(many).toBeGreaterThanOrEqual(leastSeen(6, 400))
  },
)

test('Q-46: a claim that was not stored raises nothing', () => {
  const openRewards = openedRewards({ perDayMicroUsd: 0n })
  const earns = () =>
    openRewards.limitOf({ hasKey: true, nowSeconds: 0 }).rewardOf(-usd, { ...wholeRewards, usdX18: usd })
  const claimed = openRewards.putBound({ moves: new Map(), ...noBudget, bookedMicroUsd: usd6 }, 0)
  expect([claimed, earns()]).toEqual([usd6, 0n])
  openRewards.confirmClaim()
  expect(earns()).toBe(-usd)
})
