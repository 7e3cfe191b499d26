// Goal: a leg is quoted by the best pool that may be believed, mirrored or asked, and else refused by its reason. Method: legs
// over pools of round numbers, and a chain whose quoter answers what a test says.
import type { PoolQuote, PoolState } from '@causeway/core'
import { describe, expect, test } from 'vitest'
import {
  chainA,
  deepTide,
  e18,
  million,
  native,
  pool,
  pools,
  testChainMarket,
  testRegistry,
  testSnapshot,
  tide,
  usdc,
  usdx,
  weth,
} from '../../../test/fixtures/market.ts'
import { refusalOf } from '../../../test/fixtures/quoteRequest.ts'
import { findCurrency } from '../registry.ts'
import type { Leg } from './legs.ts'
import { createPoolLegQuoter, type OnChainQuestion, type PoolTrade } from './poolLegQuoter.ts'

const chain = testRegistry().chainById.get(chainA)
if (chain === undefined) throw new Error('no chain')
const currencyOf = (address: string) => {
  const currency = findCurrency(chain, address)
  if (currency === undefined) throw new Error('it is listed')
  return currency
}
const leg = (from: string, to: string, more: Partial<Leg> = {}): Leg => ({
  kind: 'pool',
  chain,
  from: currencyOf(from),
  to: currencyOf(to),
  ...more,
})

type Answers = (question: OnChainQuestion) => PoolQuote | undefined

/** A quote in one line: amounts, pools, ticks and distance from the agreed price. */
function quoted(
  of: Leg,
  trade: PoolTrade,
  amount: bigint,
  mirrored: readonly PoolState[] = pools,
  answers: Answers = () => undefined,
) {
  const asked: OnChainQuestion[] = []
  const quoteOnChain = (question: OnChainQuestion) => {
    asked.push(question)
    return answers(question)
  }
  const snapshot = testSnapshot({ chains: [testChainMarket(chainA, { pools: mirrored })] })
  const quoter = createPoolLegQuoter({ quoteOnChain })
  const outcome = () => {
    const {
      amountIn,
      amountOut,
      hops,
      ticksCrossed,
      adverseBps,
      leg: quotedLeg,
    } = quoter[trade](snapshot, of, amount)
    expect(quotedLeg).toBe(of)
    const way = hops.map(({ to, feePips }) => `${to.symbol} ${feePips}`).join(', ')
    return `${amountIn} → ${amountOut} by [${way}] over ${ticksCrossed}, ${adverseBps} below`
  }
  let text: string | undefined
  const refusal = refusalOf(() => {
    text = outcome()
  })
  return { text: text ?? refusal, asked }
}

const answer: PoolQuote = {
  amountIn: e18,
  amountOut: 3_900_000n,
  sqrtPriceX96After: 2n ** 96n,
  initializedTicksCrossed: 1,
  exhausted: false,
}
const tideToUsdc = leg(tide, usdc)
const hops = leg(usdx, tide, { fallback: { via: currencyOf(usdc) } })
const dollar = 10n ** 6n
const cheap = pool('f3', usdx, 100, 1, [9_990_000n * dollar, 10n * million])
const dear = pool('f4', tide, 3_000, 60, [4_020_000n * dollar, million * 10n ** 12n])
/** The first pool of ETH is 60 bps below the agreed price. */
const lower = [pool('f1', weth, 500, 10, [24_850_000n * dollar, 10_000n * e18]), ...pools.slice(1)]
const moved = pool('f4', tide, 3_000, 60, [5n * million, million * 10n ** 12n])

describe('a quote', () => {
  test.each<[string, Leg, PoolTrade, bigint, string, (readonly PoolState[])?]>([
    [
      'of a wrap is one to one',
      leg(native, weth, { kind: 'wrap' }),
      'exactInput',
      5n,
      '5 → 5 by [] over 0, 0 below',
    ],
    // 0.3 % of 100 USDC, and the movement of the pool.
    [
      'of an input',
      tideToUsdc,
      'exactInput',
      25n * e18,
      '25000000000000000000 → 99697515 by [USDC 3000] over 0, 0 below',
    ],
    [
      'of an output',
      tideToUsdc,
      'exactOutput',
      100_000_000n,
      '25075852573345426916 → 100000000 by [USDC 3000] over 0, 0 below',
    ],
    [
      'is the most for an input',
      leg(usdc, weth),
      'exactInput',
      1_000_000_000n,
      '1000000000 → 399784016635014932 by [WETH 500] over 0, 0 below',
    ],
    [
      'is the least for an output',
      leg(usdc, weth),
      'exactOutput',
      e18,
      '2501500777 → 1000000000000000000 by [WETH 500] over 0, 0 below',
    ],
    [
      'of coin is that of its wrapped form',
      leg(native, usdc),
      'exactOutput',
      1_000_000n,
      '400200116058031 → 1000000 by [USDC 500] over 0, 0 below',
    ],
    [
      'of two pools in a row, for an input',
      hops,
      'exactInput',
      100_000_000n,
      '100000000 → 24772854698426952536 by [USDC 100, TIDE 3000] over 0, 60 below',
      [cheap, dear],
    ],
    [
      'of two pools in a row, for an output',
      hops,
      'exactOutput',
      25n * e18,
      '100916945 → 25000000000000000000 by [USDC 100, TIDE 3000] over 0, 60 below',
      [cheap, dear],
    ],
    [
      'is the most for an input, of a later pool',
      leg(weth, usdc),
      'exactInput',
      e18,
      '1000000000000000000 → 2491258107 by [USDC 3000] over 0, 0 below',
      lower,
    ],
    [
      'is the least for an output, of a later pool',
      leg(weth, usdc),
      'exactOutput',
      1_000_000_000n,
      '401283867606018698 → 1000000000 by [USDC 3000] over 0, 0 below',
      lower,
    ],
    [
      'is of the one that answers',
      leg(weth, usdc),
      'exactInput',
      e18,
      '1000000000000000000 → 2498500274 by [USDC 500] over 0, 0 below',
      pools.slice(0, 1),
    ],
    [
      'of a pool as far off as its class may be',
      tideToUsdc,
      'exactInput',
      e18,
      '1000000000000000000 → 3928176 by [USDC 3000] over 0, 150 below',
      [pool('f4', tide, 3_000, 60, [3_940_000n * dollar, million * 10n ** 12n])],
    ],
    [
      'is of the other pool where one was moved',
      leg(weth, usdc),
      'exactInput',
      e18,
      '1000000000000000000 → 2491258107 by [USDC 3000] over 0, 0 below',
      [pool('f1', weth, 500, 10, [20n * million, 10_000n * e18]), ...pools.slice(1)],
    ],
    [
      'is of the other pool where one has too little',
      leg(weth, usdc),
      'exactOutput',
      1_000_000_000n,
      '401283867606018698 → 1000000000 by [USDC 3000] over 0, 0 below',
      [pool('f1', weth, 500, 10, [500n, 2n * 10n ** 11n]), ...pools.slice(1)],
    ],
  ])('%s', (_what, of, trade, amount, expected, mirrored) => {
    const { text } = quoted(of, trade, amount, mirrored)
    expect(text).toBe(expected)
  })

  test('asks the chain for a listed pool that is not mirrored, and takes its word', () => {
    const { text, asked } = quoted(tideToUsdc, 'exactInput', e18, [], () => answer)
    expect(text).toBe('1000000000000000000 → 3900000 by [USDC 3000] over 1, 0 below')
    expect(asked).toEqual([
      {
        chainId: chainA,
        pool: expect.objectContaining({
          address: deepTide.address,
          token0: usdc,
          token1: tide,
          feePips: 3_000,
        }),
        zeroForOne: false,
        trade: 'exactInput',
        amount: e18,
      },
    ])
    expect(quoted(leg(usdc, tide), 'exactOutput', e18, []).asked).toMatchObject([
      { zeroForOne: true, trade: 'exactOutput' },
    ])
  })

  test.each<PoolTrade>(['exactInput', 'exactOutput'])(
    '%s is of the first of pools that are equal',
    (trade) => {
      const { text, asked } = quoted(leg(usdc, weth), trade, e18, [], () => answer)
      expect(text).toMatch(/by \[WETH 500\]/)
      expect(asked).toHaveLength(2)
    },
  )

  test('sums what two pools cross', () => {
    const answers: Answers = ({ amount, pool: { token1 } }) => ({
      ...answer,
      amountIn: amount,
      amountOut: token1 === usdx ? 4_000_000n : 990n * 10n ** 15n,
      initializedTicksCrossed: token1 === usdx ? 2 : 5,
    })
    expect(quoted(hops, 'exactInput', 4_000_000n, [], answers).text).toBe(
      '4000000 → 990000000000000000 by [USDC 100, TIDE 3000] over 7, 0 below',
    )
  })

  test('of unlisted fees asks for one pool of each, by the order of its tokens', () => {
    for (const [of, zeroForOne] of [
      [leg(tide, usdc, { fallback: { feeTiers: [500, 10_000] } }), false],
      [leg(usdc, tide, { fallback: { feeTiers: [500, 10_000] } }), true],
    ] as const) {
      const { text, asked } = quoted(of, 'exactInput', e18, pools)
      expect(asked).toEqual(
        [500, 10_000].map((feePips) => ({
          chainId: chainA,
          pool: { address: undefined, token0: usdc, token1: tide, feePips },
          zeroForOne,
          trade: 'exactInput',
          amount: e18,
        })),
      )
      expect(text).toMatch(/^NO_SWAP_ROUTES_FOUND .* No pool on chain/)
    }
  })

  test.each([
    // 4 USDC for a TIDE, less 150 bps of its class and 5 or 6 of the fee, rounded up.
    [500, 3_938_000n, true],
    [500, 3_937_999n, false],
    [501, 3_937_600n, true],
    [501, 3_937_599n, false],
    [500, 4_100_000n, true],
  ])(
    'Q-179: of an unlisted pool of %d pips may lose its fee and what a listed one may be off: %d',
    (feePips, amountOut, isQuoted) => {
      const of = leg(tide, usdc, { fallback: { feeTiers: [feePips] } })
      const { text } = quoted(of, 'exactInput', e18, [], () => ({ ...answer, amountOut }))
      expect(
        text?.startsWith(isQuoted ? `1000000000000000000 → ${amountOut} by` : 'PRICE_FETCH_FAILED'),
      ).toBe(true)
    },
  )
})

describe('a refusal', () => {
  const tooMuch = `INSUFFICIENT_LIQUIDITY {"leg":"TIDE->USDC"} No pool on chain ${chainA} can swap so much TIDE to USDC.`
  const tooLittle = `AMOUNT_TOO_LOW {"leg":"TIDE->USDC"} The amount is too low: pools on chain ${chainA} give nothing for so little TIDE to USDC.`
  const off = `PRICE_FETCH_FAILED {"reason":"pool_deviation"} The pools of TIDE and USDC on chain ${chainA} are too far from the price of their tokens.`
  const none = `NO_SWAP_ROUTES_FOUND {"leg":"TIDE->USDC","chainId":${chainA}} No listed pool on chain ${chainA} swaps TIDE to USDC now.`
  const nothing =
    (amountIn: bigint): Answers =>
    () => ({ ...answer, amountIn, amountOut: 0n })
  const unit = 25n * 10n ** 10n

  test.each<[string, PoolTrade, bigint, readonly PoolState[], Answers, string]>([
    ['more than pools count, which nobody is asked', 'exactInput', 2n ** 255n, [], () => answer, tooMuch],
    ['more than the pool holds', 'exactOutput', 2n ** 200n, pools, () => undefined, tooMuch],
    [
      'more than the asked pool holds',
      'exactInput',
      e18,
      [],
      () => ({ ...answer, exhausted: true }),
      tooMuch,
    ],
    ['so little that nothing comes out', 'exactInput', 1n, pools, () => undefined, tooLittle],
    ['an input that is worth a unit', 'exactInput', e18, [], nothing(unit * 2n - 1n), tooLittle],
    ['an input that is worth two, and gives nothing', 'exactInput', e18, [], nothing(unit * 2n), tooMuch],
    [
      'a pool that was moved against the caller',
      'exactInput',
      e18,
      [pool('f4', tide, 3_000, 60, [3n * million, million * 10n ** 12n])],
      () => undefined,
      off,
    ],
    ['a pool that is not mirrored and does not answer', 'exactInput', e18, [], () => undefined, none],
  ])('is about %s', (_what, trade, amount, mirrored, answers, expected) => {
    expect(quoted(tideToUsdc, trade, amount, mirrored, answers).text).toBe(expected)
  })

  test('is about the moved pool rather than the one that has too little', () => {
    const pair = [pool('f1', weth, 500, 10, [20n * million, 10_000n * e18])]
    const { text } = quoted(leg(weth, usdc), 'exactInput', e18, pair, () => ({ ...answer, exhausted: true }))
    expect(text).toMatch(/^PRICE_FETCH_FAILED/)
  })

  test('is about too little where an unlisted pool gives nothing for what is worth nothing', () => {
    const of = leg(tide, usdc, { fallback: { feeTiers: [500] } })
    expect(quoted(of, 'exactInput', 1n, [], nothing(1n)).text).toBe(tooLittle)
  })

  test('is none for the most that pools count', () => {
    expect(quoted(tideToUsdc, 'exactInput', 2n ** 255n - 1n, [], () => answer).asked).toHaveLength(1)
    expect(quoted(tideToUsdc, 'exactInput', 2n ** 255n, [], () => answer).asked).toEqual([])
  })

  test('is none for a pool that was moved in the caller’s favour', () => {
    expect(quoted(tideToUsdc, 'exactInput', e18, [moved]).text).toMatch(/^1000000000000000000 → 49/)
  })
})
