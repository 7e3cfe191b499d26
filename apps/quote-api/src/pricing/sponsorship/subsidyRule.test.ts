// Goal: a sponsor's debit is priced by the asset of the balances, or at one dollar where none is configured.
import { expect, test } from 'vitest'
import { e18, testConfig, testSnapshot, usdPrice } from '../../../test/fixtures/market.ts'
import { pricedUsdc } from './subsidyRule.ts'

test('L-51: USDC has its market price, and is at par where no asset is configured', () => {
  const asset = testConfig().assets.find(({ id }) => id === 'usdc')
  const snapshot = testSnapshot({ prices: { 'USDC/USD': usdPrice((e18 * 98n) / 100n) } })
  expect(pricedUsdc(snapshot, asset)).toEqual({ asset, usdX18: (e18 * 98n) / 100n })
  expect(pricedUsdc(snapshot, undefined)).toEqual({ asset: { id: '' }, usdX18: e18 })
  expect(() => pricedUsdc(testSnapshot({ prices: {} }), asset)).toThrow('no usable USDC/USD price')
})
