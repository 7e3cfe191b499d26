// Goal: a user who executes alone pays no fees, takes the best pool and loses no more than he allows. Method: legs whose
// quotes a test names.
import { describe, expect, test } from 'vitest'
import {
  chainA,
  e18,
  examplePrices,
  native,
  testRegistry,
  testSnapshot,
  usdPrice,
  usdx,
  weth,
} from '../../../test/fixtures/market.ts'
import { quoteRequest, refusalOf } from '../../../test/fixtures/quoteRequest.ts'
import { QuoteError } from '../errors.ts'
import type { Leg, LegQuote } from '../legs/legs.ts'
import { resolveRoute } from '../routes/route.ts'
import { priceSelfExecuted } from './priceSelfExecuted.ts'

type Quoted = readonly [amountIn: bigint, amountOut: bigint, adverseBps?: bigint] | Error

/** Prices a swap of USDX for USDC whose legs give what a test says, and the side that each was asked for. */
function price(change: object, quotes: readonly Quoted[]) {
  const request = quoteRequest({ destinationChainId: chainA, originCurrency: usdx, ...change })
  const route = resolveRoute(testRegistry(), request)
  const { operation, origin: chain, currencyIn: from, currencyOut: to } = route
  const kind = operation === 'wrap' || operation === 'unwrap' ? operation : 'pool'
  const legs = quotes.map((): Leg => ({ kind, chain, from, to }))
  const asked: string[] = []
  const quote = (trade: string, leg: Leg, amount: bigint): LegQuote => {
    asked.push(`${trade} ${amount}`)
    const quoted = quotes[legs.indexOf(leg)]
    if (quoted === undefined || quoted instanceof Error) throw quoted
    const [amountIn, amountOut, adverseBps = 0n] = quoted
    return { leg, amountIn, amountOut, hops: [], ticksCrossed: 0, adverseBps }
  }
  const priced = priceSelfExecuted({
    request,
    route,
    legs,
    swapImpactMaxBps: 300,
    snapshot: testSnapshot({
      prices: { ...examplePrices, 'USDX/USD': usdPrice(e18, { spreadBps: 9n }) },
    }),
    quoter: {
      exactInput: (_snapshot, leg, amount) => quote('in', leg, amount),
      exactOutput: (_snapshot, leg, amount) => quote('out', leg, amount),
    },
  })
  const { amountIn, amountInMax, amountOut, amountOutMin, slippageBps } = priced
  const text = `${amountIn} ≤ ${amountInMax} → ${amountOut} ≥ ${amountOutMin} at ${slippageBps}`
  return { priced, text, asked }
}

const amount = '1000000'
const exactOut = { tradeType: 'EXACT_OUTPUT', amount }
const ether = { originCurrency: native, destinationCurrency: weth }
const named = { slippageTolerance: '100' }

describe('amounts', () => {
  test.each<[string, object, readonly Quoted[], string, readonly string[]]>([
    ['a send', { amount, destinationCurrency: usdx }, [], '1000000 ≤ 1000000 → 1000000 ≥ 1000000 at 0', []],
    [
      'a send with a tolerance',
      { amount, destinationCurrency: usdx, ...named },
      [],
      '1000000 ≤ 1000000 → 1000000 ≥ 990000 at 100',
      [],
    ],
    [
      'a wrap',
      { amount, ...ether },
      [[1_000_000n, 1_000_000n]],
      '1000000 ≤ 1000000 → 1000000 ≥ 1000000 at 0',
      ['in 1000000'],
    ],
    [
      'an exact output of a wrap',
      { ...exactOut, ...ether, ...named },
      [[1_000_000n, 1_000_000n]],
      '1000000 ≤ 1000000 → 1000000 ≥ 1000000 at 100',
      ['out 1000000'],
    ],
    // 25 bps of stable tokens and half of the loss of 100.
    [
      'an input',
      { amount },
      [[1_000_000n, 990_000n]],
      '1000000 ≤ 1000000 → 990000 ≥ 982575 at 75',
      ['in 1000000'],
    ],
    [
      'an input of a pool below the price',
      { amount },
      [[1_000_000n, 990_000n, 20n]],
      '1000000 ≤ 1000000 → 990000 ≥ 985545 at 45',
      ['in 1000000'],
    ],
    [
      'an output',
      exactOut,
      [[1_010_000n, 1_000_000n]],
      '1010000 ≤ 1017575 → 1000000 ≥ 1000000 at 75',
      ['out 1000000'],
    ],
    [
      'an expected output',
      { ...exactOut, tradeType: 'EXPECTED_OUTPUT' },
      [[1_010_000n, 1_000_000n]],
      '1010000 ≤ 1010000 → 1000000 ≥ 992500 at 75',
      ['out 1000000'],
    ],
    [
      'the pool that gives most',
      { amount },
      [
        new QuoteError('AMOUNT_TOO_LOW', 'None.'),
        [1_000_000n, 990_000n],
        [1_000_000n, 1_000_000n],
        [1_000_000n, 999_999n],
      ],
      '1000000 ≤ 1000000 → 1000000 ≥ 997500 at 25',
      ['in 1000000', 'in 1000000', 'in 1000000', 'in 1000000'],
    ],
    [
      'the pool that takes least',
      exactOut,
      [
        [1_010_000n, 1_000_000n],
        [1_000_000n, 1_000_000n],
        [1_000_001n, 1_000_000n],
      ],
      '1000000 ≤ 1002500 → 1000000 ≥ 1000000 at 25',
      ['out 1000000', 'out 1000000', 'out 1000000'],
    ],
  ])('of %s', (_what, change, quotes, expected, asked) => {
    expect(price(change, quotes)).toMatchObject({ text: expected, asked })
  })

  test('have no fees and no solver', () => {
    const { priced } = price({ amount }, [[1_000_000n, 990_000n]])
    expect(priced).toMatchObject({
      tradeType: 'EXACT_INPUT',
      solver: undefined,
      destinationLeg: undefined,
      originLeg: { amountIn: 1_000_000n, amountOut: 990_000n },
      feeCurrency: { address: usdx },
      split: { amountIn: 1_000_000n, net: 1_000_000n, relayer: 0n, app: 0n },
      swapImpact: { usd: -(e18 / 100n), inputUsd: e18, lossBps: 100n },
      prices: { currencyIn: { usdX18: e18 }, currencyOut: { usdX18: e18 } },
    })
  })
})

describe('a refusal', () => {
  const refused = (...asked: Parameters<typeof price>) => refusalOf(() => price(...asked))
  const override = { overridePriceImpact: true }

  test('is about a swap of less than 0.05 USD', () => {
    const dust = { amount: '50000' }
    expect(refused(dust, [[50_000n, 50_000n]])).toBeUndefined()
    expect(refused(dust, [[49_999n, 50_000n]])).toBe(
      'AMOUNT_TOO_LOW {"minimumUsd":"0.05"} A swap on one chain must be worth at least 0.05 USD.',
    )
    expect(refused({ ...dust, ...ether }, [[1n, 1n]])).toBeUndefined()
    expect(refused({ ...dust, destinationCurrency: usdx, amount: '1' }, [])).toBeUndefined()
  })

  test.each<[string, Quoted]>([
    ['INSUFFICIENT_LIQUIDITY', [1_000_000n, 500_000n - 1n]],
    ['SWAP_IMPACT_TOO_HIGH', [1_000_000n, 969_999n]],
  ])('Q-155: is %s for a loss, unless the caller accepts it', (code, quote) => {
    expect(refused({ amount }, [quote])?.split(' ')[0]).toBe(code)
    expect(refused({ amount, ...override }, [quote])).toBeUndefined()
  })

  test('is about the swaps that a caller excludes', () => {
    expect(refused({ amount, disableOriginSwaps: true }, [[1_000_000n, 1_000_000n]])).toMatch(
      /^UNSUPPORTED_ROUTE/,
    )
  })

  test('is the first that is not about a missing pool, where all pools refuse', () => {
    const refusals = ['NO_SWAP_ROUTES_FOUND', 'AMOUNT_TOO_LOW', 'INSUFFICIENT_LIQUIDITY'] as const
    const all = refusals.map((code) => new QuoteError(code, 'None.'))
    expect(refused({ amount }, all)).toBe('AMOUNT_TOO_LOW {} None.')
    expect(() => price({ amount }, [new TypeError('a bug'), [1_000_000n, 1_000_000n]])).toThrow('a bug')
  })
})
