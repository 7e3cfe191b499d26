import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { timedQuote, usdX18FromMantissa, usdX18FromText } from './adapter.ts'

describe('timedQuote', () => {
  const nowMs = 1_800_000_000_000
  const quoteAt = (updatedAtSeconds: number) =>
    timedQuote({ usdX18: 5n, updatedAtSeconds, maxAgeMs: 30_000, nowMs })

  test('takes a time up to a minute ahead of ours, as clocks differ', () => {
    const updatedAtMs = nowMs + 60_000
    expect(quoteAt(updatedAtMs / 1_000)).toEqual({
      usdX18: 5n,
      updatedAtMs,
      freshUntilMs: updatedAtMs + 30_000,
    })
    expect(quoteAt(updatedAtMs / 1_000 + 1)).toEqual({ fault: 'from_the_future' })
  })
})

describe('usdX18FromText', () => {
  test.each([
    ['1', 10n ** 18n],
    ['0', 0n],
    ['2031.4217', 2_031_421_700_000_000_000_000n],
    ['1.5e-7', 150_000_000_000n],
    ['1e-18', 1n],
    ['1e-19', 0n],
    ['1.23E+21', 1_230n * 10n ** 36n],
    ['0.1234567890123456789', 123_456_789_012_345_678n],
    ['98765432101234567890.5', 98_765_432_101_234_567_890_500_000_000_000_000_000n],
  ])('reads %s exactly', (text, expected) => {
    expect(usdX18FromText(text)).toBe(expected)
  })

  test.each(['', '-1', '+1', '.5', '1.', 'NaN', 'Infinity', '1e', '0x10', ' 1', '1,5', '1e999', 'null'])(
    'refuses %o',
    (text) => {
      expect(usdX18FromText(text)).toBeUndefined()
    },
  )

  test('loses nothing of any number that JSON can carry down to 18 digits', () => {
    fc.assert(
      fc.property(fc.double({ min: 1e-18, max: 1e30, noNaN: true, noDefaultInfinity: true }), (value) => {
        const [mantissa = '', exponent = '0'] = value.toExponential().split('e')
        const digits = mantissa.replace('.', '')
        const shift = 18 + Number(exponent) - (digits.length - 1)
        const exact =
          shift >= 0 ? BigInt(digits) * 10n ** BigInt(shift) : BigInt(digits) / 10n ** BigInt(-shift)
        expect(usdX18FromText(String(value))).toBe(exact)
      }),
    )
  })
})

describe('usdX18FromMantissa', () => {
  test('places the decimal point exactly', () => {
    expect(usdX18FromMantissa(184_136_023_127n, -8)).toBe(1_841_360_231_270_000_000_000n)
    expect(usdX18FromMantissa(3n, 2)).toBe(300n * 10n ** 18n)
    expect(usdX18FromMantissa(19n, -19)).toBe(1n)
  })

  test('reads exponents from -40 to 40', () => {
    expect(usdX18FromMantissa(10n ** 30n, -40)).toBe(10n ** 8n)
    expect(usdX18FromMantissa(1n, 40)).toBe(10n ** 58n)
  })

  test('refuses an exponent that no price has', () => {
    for (const exponent of [41, -41, 0.5, Number.NaN])
      expect(usdX18FromMantissa(1n, exponent)).toBeUndefined()
  })
})
