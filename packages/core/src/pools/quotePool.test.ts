import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { PoolState } from './poolState.ts'
import { quoteExactInput, quoteExactOutput } from './quotePool.ts'
import { maxSqrtPriceX96, minSqrtPriceX96 } from './tickMath.ts'

/** A pool of real contracts on a local node: five positions, 6 and 18 decimals, after one swap. */
const recorded: PoolState = {
  address: '0xb06e1ea14d2ba2815a315646fc846d7103d53a40',
  token0: '0x7134e7b50fd7a0ddca2792ac3460c843dc1c0409',
  token1: '0x8adacb72b526f33746d350749252f347f35462ed',
  feePips: 500,
  tickSpacing: 10,
  sqrtPriceX96: 4338889435528184243821603n,
  tick: -196260,
  liquidity: 55109127622405929n,
  ticks: [
    { index: -226260, liquidityNet: 3525079759793437n },
    { index: -200250, liquidityNet: 2132172407193816n },
    { index: -197260, liquidityNet: 18867255183157202n },
    { index: -196560, liquidityNet: 32716792679455290n },
    { index: -196280, liquidityNet: -2132172407193816n },
    { index: -196250, liquidityNet: 908860724403982n },
    { index: -195960, liquidityNet: -32716792679455290n },
    { index: -195060, liquidityNet: -18867255183157202n },
    { index: -192260, liquidityNet: -908860724403982n },
    { index: -166260, liquidityNet: -3525079759793437n },
  ],
  blockHash: '0xefef540fdb498d7592eeed88455b889b472df22aa091d746f2d9a2650ec89672',
}
const highest = maxSqrtPriceX96 - 1n

/** QuoterV2's answers on that node: direction, amount, the other amount, the price afterwards. */
const quotedInputs = [
  [true, 1n, 0n, 4338889435528184243821603n],
  [true, 333333333333333333n, 998885662n, 4337453378036366411372719n],
  [false, 15000000007n, 4974536796433645539n, 4360126180751813636938655n],
  [true, 60000000000000000000n, 151683830115n, 3136265000005961113579833n],
  [false, 6000000000000n, 81922635342816138495n, highest],
  [false, 2n ** 128n, 81922635342816138495n, highest],
] as const
const quotedOutputs = [
  [true, 1n, 333594747n, 4338889435526746584291640n],
  [true, 9000000001n, 3011190349321124620n, 4326264358321126461506525n],
  [false, 11000000000000000000n, 33366441429n, 4386089480736948363756099n],
  [true, 165000000000n, 69399120108126308507n, 2836976545966042274979949n],
] as const

describe('quoteExactInput', () => {
  it.each(quotedInputs)('answers as QuoterV2 did, zeroForOne %s, %i in', (zeroForOne, amount, out, after) => {
    const quote = quoteExactInput(recorded, zeroForOne, amount)
    expect(quote).toMatchObject({ amountOut: out, sqrtPriceX96After: after, exhausted: after === highest })
    if (!quote.exhausted) expect(quote.amountIn).toBe(amount)
  })

  it('takes the same part of every input that is too large', () => {
    const [large, larger] = [6_000_000_000_000n, 2n ** 128n].map((amount) =>
      quoteExactInput(recorded, false, amount),
    )
    expect(large).toEqual(larger)
    expect(large).toMatchObject({ exhausted: true, initializedTicksCrossed: 5 })
    expect(quoteExactInput(recorded, false, large?.amountIn ?? 0n)).toMatchObject({
      amountIn: large?.amountIn,
      amountOut: large?.amountOut,
    })
  })

  it('moves nothing for nothing', () => {
    expect(quoteExactInput(recorded, true, 0n)).toEqual({
      amountIn: 0n,
      amountOut: 0n,
      sqrtPriceX96After: recorded.sqrtPriceX96,
      initializedTicksCrossed: 0,
      exhausted: false,
    })
  })

  it('gives nothing from a pool that was never initialised', () => {
    const unset = { ...recorded, sqrtPriceX96: 0n, tick: 0, liquidity: 0n, ticks: [] }
    for (const zeroForOne of [true, false]) {
      expect(quoteExactInput(unset, zeroForOne, 5n)).toMatchObject({
        amountIn: 0n,
        amountOut: 0n,
        exhausted: true,
      })
    }
  })

  it.each([-1n, 2n ** 255n])('refuses the amount %i', (amount) => {
    expect(() => quoteExactInput(recorded, true, amount)).toThrow(RangeError)
  })

  it('refuses ticks that take away more liquidity than there is', () => {
    const contradictory = { ...recorded, liquidity: 1n }
    expect(() => quoteExactInput(contradictory, false, 2n ** 100n)).toThrow('contradict')
  })
})

describe('quoteExactOutput', () => {
  it.each(quotedOutputs)(
    'answers as QuoterV2 did, zeroForOne %s, %i out',
    (zeroForOne, amount, paid, after) => {
      expect(quoteExactOutput(recorded, zeroForOne, amount)).toMatchObject({
        amountIn: paid,
        amountOut: amount,
        sqrtPriceX96After: after,
        exhausted: false,
      })
    },
  )

  it('tells all that the pool can give when more is asked', () => {
    const quote = quoteExactOutput(recorded, true, 2n ** 128n)
    expect(quote).toMatchObject({ exhausted: true, sqrtPriceX96After: minSqrtPriceX96 + 1n })
    expect(quoteExactOutput(recorded, true, quote.amountOut)).toMatchObject({
      amountOut: quote.amountOut,
      exhausted: false,
    })
  })
})

describe('two quotes of one pool', () => {
  const amount = fc.bigInt({ min: 1n, max: 10n ** 22n })

  it('never give more for less', () => {
    fc.assert(
      fc.property(fc.boolean(), amount, amount, (zeroForOne, a, b) => {
        const [less, more] = a < b ? [a, b] : [b, a]
        const [small, large] = [
          quoteExactInput(recorded, zeroForOne, less),
          quoteExactInput(recorded, zeroForOne, more),
        ]
        expect(small.amountOut).toBeLessThanOrEqual(large.amountOut)
        const [cheap, dear] = [
          quoteExactOutput(recorded, zeroForOne, less),
          quoteExactOutput(recorded, zeroForOne, more),
        ]
        expect(cheap.amountIn).toBeLessThanOrEqual(dear.amountIn)
      }),
    )
  })

  it('do not let an exact output undercut the exact input that buys it', () => {
    fc.assert(
      fc.property(fc.boolean(), amount, (zeroForOne, wanted) => {
        const bought = quoteExactOutput(recorded, zeroForOne, wanted)
        const paid = quoteExactInput(recorded, zeroForOne, bought.amountIn)
        expect(paid.amountOut).toBeGreaterThanOrEqual(bought.amountOut)
      }),
    )
  })
})
