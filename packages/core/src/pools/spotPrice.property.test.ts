import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { spotPrice, sqrtPriceX96FromAmounts } from './spotPrice.ts'

const amount = fc.bigInt({ min: 1n, max: 2n ** 128n })

describe('sqrtPriceX96FromAmounts', () => {
  it('is one in X96 when both amounts are equal', () => {
    expect(sqrtPriceX96FromAmounts({ amount0: 7n, amount1: 7n })).toBe(2n ** 96n)
  })

  it('is the largest root whose price does not exceed the ratio', () => {
    fc.assert(
      fc.property(amount, amount, (amount0, amount1) => {
        const root = sqrtPriceX96FromAmounts({ amount0, amount1 })
        expect(root * root * amount0).toBeLessThanOrEqual(amount1 << 192n)
        expect((root + 1n) * (root + 1n) * amount0).toBeGreaterThan(amount1 << 192n)
      }),
    )
  })

  it.each([
    [0n, 1n],
    [1n, 0n],
    [-1n, 1n],
  ])('refuses amounts %i and %i', (amount0, amount1) => {
    expect(() => sqrtPriceX96FromAmounts({ amount0, amount1 })).toThrow(RangeError)
  })
})

describe('spotPrice', () => {
  it('is the exact ratio that a pool price stands for', () => {
    expect(spotPrice({ sqrtPriceX96: 2n ** 96n })).toEqual({ amount0: 2n ** 192n, amount1: 2n ** 192n })
    const { amount0, amount1 } = spotPrice({ sqrtPriceX96: 3n * 2n ** 96n })
    expect(amount1 / amount0).toBe(9n)
  })

  it('undoes the root for prices that have one', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 2n ** 33n, max: 2n ** 159n }), (sqrtPriceX96) => {
        expect(sqrtPriceX96FromAmounts(spotPrice({ sqrtPriceX96 }))).toBe(sqrtPriceX96)
      }),
    )
  })
})
