// Goal: the guards of legs refuse at their bounds and count from the agreed price. Method: pools, legs and tolerances whose
// numbers a reader can check by hand.
import { describe, expect, test } from 'vitest'
import {
  chainA,
  e18,
  native,
  testRegistry,
  testSnapshot,
  tide,
  usdc,
  usdx,
  weth,
} from '../../../test/fixtures/market.ts'
import { refusalOf } from '../../../test/fixtures/quoteRequest.ts'
import type { QuoteError } from '../errors.ts'
import { findCurrency } from '../registry.ts'
import { adverseBps, guardBps, poolDeviation, promisedOut, requiredIn } from './legGuard.ts'
import { adverseBpsOf, checkDepth, checkImpact, legImpact } from './legImpact.ts'
import type { Leg, LegQuote } from './legs.ts'
import {
  dearerClass,
  maximumAfterSlippage,
  minimumAfterSlippage,
  type SlippageInputs,
  slippageBps,
} from './slippage.ts'

const chain = testRegistry().chainById.get(chainA)
if (chain === undefined) throw new Error('no chain')
const currencyOf = (address: string) => {
  const currency = findCurrency(chain, address)
  if (currency === undefined) throw new Error('it is listed')
  return currency
}
const leg = (from: string, to: string, kind: Leg['kind'] = 'pool'): Leg => ({
  kind,
  chain,
  from: currencyOf(from),
  to: currencyOf(to),
})
const quoteOf = (of: Leg, amountIn: bigint, amountOut: bigint, bps = 0n): LegQuote => ({
  leg: of,
  amountIn,
  amountOut,
  hops: [],
  ticksCrossed: 0,
  adverseBps: bps,
})
const snapshot = testSnapshot({})

const raise = (error: QuoteError): never => {
  throw error
}

describe('a pool against the agreed price', () => {
  /** It gives one whole token for one USDC. */
  const state = { token0: usdc, sqrtPriceX96: 2n ** 96n * 10n ** 6n } as const
  const usdcAt = (usdX18: bigint) => ({ decimals: 6, usdX18, spreadBps: 0n })
  const tideAt = (usdX18: bigint) => ({ decimals: 18, usdX18, spreadBps: 0n })

  test.each([
    ['at it', e18, 0n, 0n],
    ['whose token is worth a quarter more', (5n * e18) / 4n, 2_000n, 0n],
    ['whose token is worth a fifth less', (4n * e18) / 5n, 0n, 2_000n],
    ['a part of a bps off it', e18 + 1n, 1n, 0n],
  ])('%s', (_what, tideUsd, selling, buying) => {
    const [u, t] = [usdcAt(e18), tideAt(tideUsd)]
    expect(adverseBps(state, { tokenIn: tide, from: t, to: u })).toBe(selling)
    expect(adverseBps(state, { tokenIn: usdc, from: u, to: t })).toBe(buying)
  })

  test('that was never initialized sells nothing', () => {
    const [u, t, empty] = [usdcAt(e18), tideAt(e18), { ...state, sqrtPriceX96: 0n }]
    expect(adverseBps(empty, { tokenIn: usdc, from: u, to: t })).toBe(10_000n)
    expect(adverseBps(empty, { tokenIn: tide, from: t, to: u })).toBe(10_000n)
  })

  test('may stand off by the class of the dearer token', () => {
    expect([guardBps(leg(usdx, usdc)), guardBps(leg(usdc, weth)), guardBps(leg(tide, weth))]).toEqual([
      25n,
      75n,
      150n,
    ])
  })

  test('is refused by its tokens where all of a pair are too far', () => {
    expect(refusalOf(() => raise(poolDeviation(leg(tide, usdc))))).toBe(
      `PRICE_FETCH_FAILED {"reason":"pool_deviation"} The pools of TIDE and USDC on chain ${chainA} are too far from the price of their tokens.`,
    )
  })

  test.each([
    // A solver believes no pool that gives more than 4 USDC for a TIDE, and gives 1 to 1 what is wrapped.
    ['a pool in the caller’s favour', leg(tide, usdc), [e18, 5_000_000n], 4_000_000n, (5n * e18) / 4n],
    ['a pool against the caller', leg(tide, usdc), [e18, 3_000_000n], 3_000_000n, e18],
    ['a wrap', leg(native, weth, 'wrap'), [5n, 7n], 7n, 5n],
  ] as const)('%s is promised at most the agreed price', (_what, of, [amountIn, amountOut], out, needed) => {
    const quote = quoteOf(of, amountIn, amountOut)
    expect([promisedOut(snapshot, quote), requiredIn(snapshot, quote)]).toEqual([out, needed])
  })
})

describe('impact', () => {
  const loss = quoteOf(leg(tide, usdc), e18, 3_900_000n, 7n)
  const wrap = quoteOf(leg(native, weth, 'wrap'), e18, e18)
  const gain = quoteOf(leg(usdc, usdx), 6_000_000n, 6_500_000n, 5n)

  test('Q-details-07: is that of all pools together', () => {
    expect(legImpact(snapshot, [loss, undefined, wrap])).toEqual({
      usd: -(e18 / 10n),
      inputUsd: 4n * e18,
      lossBps: 250n,
    })
    expect(legImpact(snapshot, [loss, gain])).toEqual({
      usd: (4n * e18) / 10n,
      inputUsd: 10n * e18,
      lossBps: -400n,
    })
    expect(legImpact(snapshot, [undefined, wrap])).toEqual({ usd: 0n, inputUsd: 0n, lossBps: 0n })
    expect(adverseBpsOf([loss, undefined, gain])).toBe(12n)
  })

  test.each<[string, LegQuote, boolean, boolean]>([
    // One unit of rounding does not count, and a loss rounds up to a bps.
    ['more than 4,999 bps', quoteOf(leg(tide, usdc), e18, 2_000_398n), false, true],
    ['4,999 bps', quoteOf(leg(tide, usdc), e18, 2_000_399n), false, false],
    ['all of a unit', quoteOf(leg(usdx, usdc), 1n, 0n), false, false],
    ['half, where the caller accepts it', quoteOf(leg(tide, usdc), e18, 1n), true, false],
    ['all of a wrap', quoteOf(leg(native, weth, 'wrap'), e18, 0n), false, false],
  ])('Q-155: a loss of %s', (_what, quote, override, isRefused) => {
    expect(refusalOf(() => checkDepth(snapshot, quote, { override }))).toBe(
      isRefused
        ? `INSUFFICIENT_LIQUIDITY {"leg":"TIDE->USDC"} Pools on chain ${chainA} hold too little to swap so much TIDE to USDC.`
        : undefined,
    )
  })

  test('Q-155: is refused above the limit on losses and above that on gains', () => {
    const check = (lossBps: bigint, override = false) =>
      refusalOf(() => checkImpact({ usd: 0n, inputUsd: 0n, lossBps }, { maxBps: 300, override }))
    expect([check(300n), check(301n, true), check(-500n)]).toEqual([undefined, undefined, undefined])
    expect(check(301n)).toBe(
      'SWAP_IMPACT_TOO_HIGH {"impactBps":301,"limitBps":300} The swap loses 301 bps of its value; lower the amount or set overridePriceImpact.',
    )
    const broken =
      'PRICE_FETCH_FAILED {"reason":"pool_deviation"} Pools and price sources disagree too far to quote this swap.'
    expect([check(-501n), check(-501n, true)]).toEqual([broken, broken])
  })
})

describe('the tolerance', () => {
  const plain: SlippageInputs = {
    requestedBps: undefined,
    hasPoolLeg: true,
    assetClass: 'major',
    swapImpactBps: 0n,
    adverseBps: 0n,
    priceSpreadBps: 0n,
  }
  const computed = (change: Partial<SlippageInputs>) => slippageBps({ ...plain, ...change })

  test.each<[string, Partial<SlippageInputs>, bigint]>([
    ['is that of the class', {}, 75n],
    ['is that of stable tokens', { assetClass: 'stable' }, 25n],
    ['is that of rare tokens', { assetClass: 'longtail' }, 150n],
    ['is none without a pool', { hasPoolLeg: false, swapImpactBps: 40n, priceSpreadBps: 9n }, 0n],
    ['grows by half the impact, rounded down', { swapImpactBps: 41n }, 95n],
    ['does not shrink by a gain', { swapImpactBps: -40n }, 75n],
    ['grows by the spread of prices', { priceSpreadBps: 9n }, 84n],
    ['ends at a tenth', { swapImpactBps: 2_000n }, 1_000n],
    ['counts from the agreed price', { swapImpactBps: 30n, adverseBps: 30n }, 45n],
    ['is none where pools use it up', { swapImpactBps: 75n, adverseBps: 75n }, 0n],
    ['is the one that the caller named', { requestedBps: 50n, priceSpreadBps: 9n }, 50n],
    ['is the named one while pools lag a little', { requestedBps: 50n, adverseBps: 30n }, 50n],
    ['shrinks where pools lag more', { requestedBps: 50n, adverseBps: 31n }, 49n],
    ['may lag less for stable tokens', { requestedBps: 50n, adverseBps: 31n, assetClass: 'stable' }, 29n],
    ['may lag more for rare tokens', { requestedBps: 50n, adverseBps: 101n, assetClass: 'longtail' }, 49n],
    ['is none where pools use up a named one', { requestedBps: 50n, adverseBps: 80n }, 0n],
  ])('Q-152: %s', (_what, change, expected) => {
    expect(computed(change)).toBe(expected)
  })

  test.each([
    ['the class', { adverseBps: 76n, swapImpactBps: 76n }, 76n, 46n],
    ['the caller', { requestedBps: 50n, adverseBps: 81n }, 81n, 51n],
  ])('Q-152: what is beyond that of %s is refused with one that suffices', (_whose, change, bps, least) => {
    expect(refusalOf(() => computed(change))).toBe(
      `PRICE_FETCH_FAILED {"reason":"pool_deviation"} Pools are ${bps} bps below the price of their tokens: try again, or set slippageTolerance to at least ${least}.`,
    )
  })

  test('Q-151: a minimum rounds down, a maximum up', () => {
    expect([minimumAfterSlippage(101n, 50n), maximumAfterSlippage(101n, 50n)]).toEqual([100n, 102n])
    expect([minimumAfterSlippage(101n, 0n), maximumAfterSlippage(101n, 0n)]).toEqual([101n, 101n])
  })

  test.each([
    ['stable', 'stable', 'stable'],
    ['stable', 'major', 'major'],
    ['longtail', 'major', 'longtail'],
    ['major', 'longtail', 'longtail'],
  ] as const)('of %s and %s is that of %s', (a, b, dearer) => {
    expect(dearerClass(a, b)).toBe(dearer)
  })
})
