import { describe, expect, test } from 'vitest'
import { FlatFees } from '../../../rules/flatFees.ts'
import type { CostedTransaction } from '../../../rules/networkFees.ts'
import { BitcoinFees, feeAt } from './bitcoinFees.ts'

const fees = new BitcoinFees({ satPerKvb: 1_000n })

describe('a transaction on Bitcoin costs its virtual bytes', () => {
  test.each<[CostedTransaction['kind'], bigint]>([
    ['deposit', 242n],
    ['send-input', 166n],
    ['pay-address', 166n],
    // A quarter more, for the one that replaces it: of 230 and of 307, rounded up.
    ['fill', 288n],
    ['refund', 288n],
    ['sweep', 384n],
  ])('%s', (kind, satoshi) => {
    expect(fees.costOf({ kind, isNative: true })).toBe(satoshi)
  })

  test.each<CostedTransaction['kind']>(['approve', 'swap', 'fill-topup', 'sweep-swap'])(
    'and no %s is sent',
    (kind) => {
      expect(() => fees.costOf({ kind, isNative: true })).toThrow(`no ${kind} is sent`)
    },
  )

  test('unless planning knows the fee, also one of nothing', () => {
    expect(fees.costOf({ kind: 'deposit', isNative: true, networkFee: 0n })).toBe(0n)
    expect(fees.costOf({ kind: 'swap', isNative: true, networkFee: 5n })).toBe(5n)
  })

  test('at a price per thousand of them, rounded up', () => {
    expect([feeAt(1_001n, 1_000), feeAt(1_001n, 1), feeAt(0n, 100)]).toEqual([1_001n, 2n, 0n])
  })
})

test('a payment makes no state that is charged for, and has a least amount and no gas', () => {
  expect([fees.rentOf(), fees.leastPayment(), fees.gasOf()]).toEqual([0n, 546n, undefined])
})

test('two readings are one price where that of a byte is the same, in one family', () => {
  expect(fees.equals(new BitcoinFees({ satPerKvb: 1_000n }))).toBe(true)
  expect(fees.equals(new BitcoinFees({ satPerKvb: 1_001n }))).toBe(false)
  expect(fees.equals(new FlatFees({ transferFee: 1_000n }))).toBe(false)
})
