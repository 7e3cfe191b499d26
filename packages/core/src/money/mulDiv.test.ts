// Goal: every division rounds as its name says, also below zero. Method: the identity of division, over random integers.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  bpsDown,
  bpsUp,
  divideDown,
  divideHalfEven,
  divideUp,
  maxBigint,
  minBigint,
  mulDivDown,
  mulDivUp,
  multipleDown,
  multipleUp,
  pow10,
} from './mulDiv.ts'
import { amountForUsdDown, amountForUsdUp, convertDown, convertUp, usdValueDown } from './usd.ts'

const integer = fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n })
const positive = fc.bigInt({ min: 1n, max: 10n ** 20n })
const natural = fc.bigInt({ min: 0n, max: 10n ** 20n })

test('down is towards minus infinity, up towards infinity, by less than one', () => {
  fc.assert(
    fc.property(integer, positive, (numerator, denominator) => {
      const down = divideDown(numerator, denominator)
      const rest = numerator - down * denominator
      expect(rest >= 0n && rest < denominator).toBe(true)
      expect(divideUp(numerator, denominator)).toBe(rest === 0n ? down : down + 1n)
    }),
  )
  expect([divideDown(-7n, 2n), divideUp(-7n, 2n), divideDown(7n, 2n), divideUp(7n, 2n)]).toEqual([
    -4n,
    -3n,
    3n,
    4n,
  ])
  expect([divideDown(-8n, 2n), divideUp(8n, 2n), divideDown(0n, 3n), divideUp(0n, 3n)]).toEqual([
    -4n,
    4n,
    0n,
    0n,
  ])
})

test('half goes to the even neighbour', () => {
  expect([1n, 2n, 3n, 5n, 7n, -1n, -3n].map((half) => divideHalfEven(half, 2n))).toEqual([
    0n,
    1n,
    2n,
    2n,
    4n,
    0n,
    -2n,
  ])
  expect([divideHalfEven(4n, 3n), divideHalfEven(5n, 3n)]).toEqual([1n, 2n])
})

test('nothing is divided by zero or less', () => {
  for (const divide of [divideDown, divideUp, divideHalfEven])
    for (const denominator of [0n, -1n]) expect(() => divide(1n, denominator)).toThrow('must be positive')
})

test('a product is divided in one step', () => {
  expect([mulDivDown(7n, 3n, 2n), mulDivUp(7n, 3n, 2n)]).toEqual([10n, 11n])
  expect([bpsDown(19_999n, 1n), bpsUp(19_999n, 1n), bpsDown(10_000n, 30n)]).toEqual([1n, 2n, 30n])
})

test('a multiple is the nearest below or above', () => {
  fc.assert(
    fc.property(natural, positive, (value, step) => {
      const [down, up] = [multipleDown(value, step), multipleUp(value, step)]
      expect([down % step, up % step]).toEqual([0n, 0n])
      expect(down <= value && value < down + step && up >= value && up < value + step).toBe(true)
    }),
  )
})

test('powers of ten have no end', () => {
  expect([pow10(0), pow10(18), pow10(77), pow10(80)]).toEqual([1n, 10n ** 18n, 10n ** 77n, 10n ** 80n])
  expect([minBigint(1n, 2n), minBigint(2n, 1n), maxBigint(1n, 2n), maxBigint(2n, 1n)]).toEqual([
    1n,
    1n,
    2n,
    2n,
  ])
})

describe('USD', () => {
  const usdc = { decimals: 6, usdX18: 999n * 10n ** 15n }
  const coin = { decimals: 18, usdX18: 3_000n * 10n ** 18n }

  test('is worth an amount, and buys one, by the rounding in the name', () => {
    expect(usdValueDown(1n, usdc)).toBe(999_000_000_000n)
    expect(usdValueDown(1n, { decimals: 18, usdX18: 10n ** 17n })).toBe(0n)
    expect([amountForUsdDown(10n ** 18n, usdc), amountForUsdUp(10n ** 18n, usdc)]).toEqual([
      1_001_001n,
      1_001_002n,
    ])
    expect(amountForUsdUp(3_000n * 10n ** 18n, coin)).toBe(10n ** 18n)
  })

  test('of one currency in another is rounded once', () => {
    expect([convertDown(1_000_000n, usdc, coin), convertUp(1_000_000n, usdc, coin)]).toEqual([
      333_000_000_000_000n,
      333_000_000_000_000n,
    ])
    expect([convertDown(10n ** 12n, coin, usdc), convertUp(10n ** 12n, coin, usdc)]).toEqual([3_003n, 3_004n])
  })
})
