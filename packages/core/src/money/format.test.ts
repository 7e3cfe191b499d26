import fc from 'fast-check'
import { parseUnits } from 'viem'
import { describe, expect, test } from 'vitest'
import { exactNumber, formatAmount, formatFixed, formatPercent, formatRate, formatUsd } from './format.ts'

const amounts = fc.bigInt({ min: 0n, max: 2n ** 128n })
const decimals = fc.integer({ min: 0, max: 24 })

describe('formatAmount', () => {
  test.each([
    [0n, 6, '0.0'],
    [100_000_000n, 6, '100.0'],
    [12_345_678n, 6, '12.345678'],
    [5n, 18, '0.000000000000000005'],
    [7n, 0, '7.0'],
    [-20_000n, 6, '-0.02'],
  ])('writes %s with %s decimals as %s', (amount, places, text) => {
    expect(formatAmount(amount, places)).toBe(text)
  })

  test('Q-143: reads back to the same integer, without exponent', () => {
    fc.assert(
      fc.property(amounts, decimals, (amount, places) => {
        const text = formatAmount(amount, places)
        expect(text).toMatch(/^\d+\.\d+$/)
        if (places > 0) expect(parseUnits(text, places)).toBe(amount)
        else expect(text).toBe(`${amount}.0`)
      }),
    )
  })
})

test('formatFixed pads and signs', () => {
  expect(formatFixed(5n, 3)).toBe('0.005')
  expect(formatFixed(-1234n, 2)).toBe('-12.34')
  expect(formatFixed(42n, 0)).toBe('42')
})

test('Q-143: formatUsd keeps six digits and rounds half to even', () => {
  expect(formatUsd(99_370_000_000_000_000_000n)).toBe('99.370000')
  expect(formatUsd(500_000_000_000n)).toBe('0.000000')
  expect(formatUsd(1_500_000_000_000n)).toBe('0.000002')
  expect(formatUsd(-630_000_000_000_000_000n)).toBe('-0.630000')
})

test('Q-143: formatPercent is signed, two digits, and zero for an empty whole', () => {
  expect(formatPercent(-63n, 10_000n)).toBe('-0.63')
  expect(formatPercent(1n, 3n)).toBe('33.33')
  expect(formatPercent(1n, 0n)).toBe('0.00')
  expect(formatPercent(1n, -3n)).toBe('-33.33')
})

describe('formatRate', () => {
  test.each([
    [100_000_000n, 6, 39_748_000_000_000_000n, 18, '0.00039748'],
    [100_000_000_000_000n, 18, 90_787_871_643_944n, 18, '0.90787871643944'],
    [1_000_000n, 6, 2_500_000_000n, 6, '2500'],
    [3n, 0, 1n, 0, '0.333333333333333333'],
    [3n, 0, 10n, 0, '3.33333333333333333'],
    [3n, 0, 10_000n, 0, '3333.33333333333333'],
    [3_000n, 0, 1n, 0, '0.000333333333333333333'],
    [1n, 0, 10n ** 20n, 0, '100000000000000000000'],
    [1n, 0, 0n, 0, '0'],
    [0n, 6, 1n, 6, '0'],
  ])('of %s (%s) and %s (%s) is %s', (amountIn, decimalsIn, amountOut, decimalsOut, rate) => {
    expect(formatRate({ amountIn, decimalsIn, amountOut, decimalsOut })).toBe(rate)
  })

  test('never writes an exponent', () => {
    fc.assert(
      fc.property(amounts, decimals, amounts, decimals, (amountIn, decimalsIn, amountOut, decimalsOut) => {
        expect(formatRate({ amountIn, decimalsIn, amountOut, decimalsOut })).toMatch(/^\d+(\.\d+)?$/)
      }),
    )
  })
})

test('an amount is a number where that rounds nothing', () => {
  const most = BigInt(Number.MAX_SAFE_INTEGER)
  expect([exactNumber(0n), exactNumber(most)]).toEqual([0, Number.MAX_SAFE_INTEGER])
  expect(() => exactNumber(most + 1n)).toThrow(RangeError)
})
