// Goal: amounts that chains write as decimal text become exact counts of units, or nothing.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { formatAmount } from './format.ts'
import { parseDecimal, parseWholeUnits } from './parseDecimal.ts'

test.each<[string, number, bigint]>([
  ['0', 8, 0n],
  ['100', 8, 10_000_000_000n],
  ['123.45', 8, 12_345_000_000n],
  ['100.00000000', 8, 10_000_000_000n],
  ['0.00000001', 8, 1n],
  ['1.50', 1, 15n],
  ['7.0', 0, 7n],
  ['90071992.54740993', 8, 9_007_199_254_740_993n],
])('%s with %i decimals is %s units', (text, decimals, units) => {
  expect(parseDecimal(text, decimals)).toBe(units)
})

describe('is refused', () => {
  test.each([
    ['nothing', ''],
    ['a sign', '-1'],
    ['an exponent', '1e8'],
    ['a leading zero', '01.5'],
    ['no digit before the point', '.5'],
    ['no digit after the point', '5.'],
    ['two points', '1.2.3'],
    ['a comma', '1,5'],
    ['a space', ' 1'],
    ['a line break', '1\n'],
    ['digits of another script', '١'],
    ['part of a unit', '0.000000001'],
    ['too many digits', '1'.repeat(79)],
  ])('%s', (_what, text) => {
    expect(parseDecimal(text, 8)).toBeUndefined()
  })
})

test('reads back what amounts are shown as', () => {
  const amount = fc.bigInt({ min: 0n, max: 2n ** 200n })
  fc.assert(
    fc.property(amount, fc.nat(30), (units, decimals) => {
      expect(parseDecimal(formatAmount(units, decimals), decimals)).toBe(units)
    }),
  )
})

test.each<[string, number, bigint | undefined]>([
  ['1.239', 2, 123n],
  ['1.2', 2, 120n],
  ['1.999', 0, 1n],
  ['7', 2, 700n],
  ['0.001', 2, 0n],
  ['1.', 2, undefined],
  ['1.x', 2, undefined],
  ['1.23x', 2, undefined],
  ['1.x23', 2, undefined],
  ['1.2 ', 1, undefined],
  ['x', 2, undefined],
  ['', 2, undefined],
  ['.5', 2, undefined],
  [`1.${'0'.repeat(78)}`, 2, 100n],
  [`1.${'0'.repeat(79)}`, 2, undefined],
])('of %j with %i decimals %s whole units are kept', (text, decimals, units) => {
  expect(parseWholeUnits(text, decimals)).toBe(units)
})
