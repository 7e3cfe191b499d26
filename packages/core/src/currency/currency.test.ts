import { expect, test } from 'vitest'
import { currencyKey } from './currency.ts'

test('the key of a currency tells chains and tokens apart', () => {
  expect(currencyKey(10, '0xab')).toBe('10:0xab')
  expect(currencyKey(1, '00xab')).not.toBe(currencyKey(10, '0xab'))
})
