// Units of amounts: never more than the text says, and less than one unit below it.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { wholeUnits } from './transfers.ts'

test('whole units are the amount without its part of a unit', () => {
  const amounts = fc.record({
    whole: fc.bigInt({ min: 0n, max: 10n ** 30n }),
    fraction: fc.string({ unit: fc.constantFrom(...'0123456789'), maxLength: 30 }),
    decimals: fc.integer({ min: 0, max: 20 }),
  })
  fc.assert(
    fc.property(amounts, ({ whole, fraction, decimals }) => {
      const text = fraction === '' ? `${whole}` : `${whole}.${fraction}`
      const exact = BigInt(`${whole}${fraction.padEnd(30, '0')}`)
      const unit = 10n ** BigInt(30 - decimals)
      expect(wholeUnits(text, decimals)).toBe(exact / unit)
    }),
  )
})
