import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { divideUp, maxBigint, minBigint } from '../money/mulDiv.ts'
import {
  amount0Down,
  amount0Up,
  amount1Down,
  amount1Up,
  priceAfterToken0In,
  priceAfterToken0Out,
  priceAfterToken1In,
  priceAfterToken1Out,
} from './sqrtPriceMath.ts'
import { maxSqrtPriceX96, minSqrtPriceX96 } from './tickMath.ts'

const price = fc.bigInt({ min: minSqrtPriceX96, max: maxSqrtPriceX96 - 1n })
const liquidity = fc.bigInt({ min: 1n, max: 2n ** 128n - 1n })
const move = fc
  .tuple(price, price, liquidity)
  .map(([a, b, depth]) => ({ lower: minBigint(a, b), upper: maxBigint(a, b), depth }))

describe('amounts of a price move', () => {
  it('round down and up around the exact quotient', () => {
    fc.assert(
      fc.property(move, ({ lower, upper, depth }) => {
        const numerator0 = (depth << 96n) * (upper - lower)
        const divisor0 = upper * lower
        expect(amount0Down(lower, upper, depth) * divisor0).toBeLessThanOrEqual(numerator0)
        expect((amount0Down(lower, upper, depth) + 1n) * divisor0).toBeGreaterThan(numerator0)
        expect(amount0Up(lower, upper, depth) * divisor0).toBeGreaterThanOrEqual(numerator0)
        expect((amount0Up(lower, upper, depth) - 1n) * divisor0).toBeLessThan(numerator0)
        const numerator1 = depth * (upper - lower)
        expect(amount1Down(lower, upper, depth) << 96n).toBeLessThanOrEqual(numerator1)
        expect((amount1Down(lower, upper, depth) + 1n) << 96n).toBeGreaterThan(numerator1)
        expect(amount1Up(lower, upper, depth) << 96n).toBeGreaterThanOrEqual(numerator1)
        expect((amount1Up(lower, upper, depth) - 1n) << 96n).toBeLessThan(numerator1)
      }),
    )
  })
})

describe('the price after an amount', () => {
  it('stays within what the amount pays for, rounded in favour of the pool', () => {
    fc.assert(
      fc.property(price, liquidity, fc.bigInt({ min: 0n, max: 2n ** 96n }), (start, depth, amount) => {
        const lower = priceAfterToken0In(start, depth, amount)
        expect(lower).toBeLessThanOrEqual(start)
        expect(amount0Up(lower, start, depth)).toBeLessThanOrEqual(amount)
        const upper = priceAfterToken1In(start, depth, amount)
        expect(upper).toBeGreaterThanOrEqual(start)
        expect(amount1Up(start, upper, depth)).toBeLessThanOrEqual(amount)
      }),
    )
  })

  it('moves far enough to give the whole output', () => {
    fc.assert(
      fc.property(move, fc.bigInt({ min: 0n, max: 10n ** 18n }), ({ lower, upper, depth }, share) => {
        const out0 = (amount0Down(lower, upper, depth) * share) / 10n ** 18n
        const higher = priceAfterToken0Out(lower, depth, out0)
        expect(amount0Down(lower, higher, depth)).toBeGreaterThanOrEqual(out0)
        const out1 = (amount1Down(lower, upper, depth) * share) / 10n ** 18n
        const below = priceAfterToken1Out(upper, depth, out1)
        expect(amount1Down(below, upper, depth)).toBeGreaterThanOrEqual(out1)
      }),
    )
  })

  it('rounds coarser where a 256-bit word cannot hold the product, as the pool does', () => {
    const [start, depth] = [10n ** 47n + 7n, 2n ** 127n]
    const liquidityX96 = depth << 96n
    const fine = (amount: bigint) => divideUp(liquidityX96 * start, liquidityX96 + amount * start)
    const coarse = (amount: bigint) => divideUp(liquidityX96, liquidityX96 / start + amount)
    // The first amount whose divisor L·2⁹⁶ + amount·√P needs a 257th bit.
    const first = divideUp(2n ** 256n - liquidityX96, start)
    expect(coarse(first - 1n)).not.toBe(fine(first - 1n))
    expect(priceAfterToken0In(start, depth, first - 1n)).toBe(fine(first - 1n))
    expect(coarse(first)).not.toBe(fine(first))
    expect(priceAfterToken0In(start, depth, first)).toBe(coarse(first))
  })
})
