// Goal: what a fill is said to have brought is what came in less all that went out, and never looks better than it was.
import { expect, test } from 'vitest'
import { type FinalPayment, realisedResult } from './realisedResult.ts'
import { depositKey, type Valuer } from './verdict.ts'

const cent = 10n ** 16n
/** `usd` has 2 digits and is worth 1 USD, `coin` is worth 2 USD a unit, `lost` has no price. */
const value: Valuer = (_chainId, currency, amount) =>
  currency === 'usd' ? amount * cent : currency === 'coin' ? amount * 200n * cent : undefined

const deposit = depositKey({
  chainId: 10,
  chainKey: 'optimism',
  refundChainId: 10,
  transactionId: '0xab',
  ordinal: 0,
  orderId: '0x01',
  depositor: '0xd',
  currency: 'usd',
  amount: 1_000n,
  inTransaction: 1_000n,
})
const payment: FinalPayment = {
  chainId: 8453,
  deposits: [deposit],
  payments: [{ currency: 'usd', amount: 700n }],
  gas: { currency: 'coin', amount: 1n },
}

test('is the deposit less the payment and its gas', () => {
  expect(realisedResult(payment, value)).toBe(1_000_000n)
})

test('O-199: is negative where more went out, rounded against the solver', () => {
  const dearer = { ...payment, payments: [{ currency: 'usd', amount: 1_000n }] }
  expect(realisedResult(dearer, value)).toBe(-2_000_000n)
  const fraction: Valuer = (chainId, currency, amount) => {
    const known = value(chainId, currency, amount)
    return currency === 'coin' && known !== undefined ? known + 1n : known
  }
  expect(realisedResult(dearer, fraction)).toBe(-2_000_001n)
  expect(realisedResult(payment, fraction)).toBe(999_999n)
})

test.each<[string, FinalPayment]>([
  ['nothing was deposited', { ...payment, deposits: [] }],
  ['a price is missing', { ...payment, gas: { currency: 'lost', amount: 1n } }],
  ['the deposit cannot be read', { ...payment, deposits: ['no key'] }],
])('is unknown where %s', (_what, unknown) => {
  expect(realisedResult(unknown, value)).toBeUndefined()
})
