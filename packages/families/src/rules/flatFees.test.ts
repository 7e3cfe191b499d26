import { describe, expect, test } from 'vitest'
import { SolanaFees } from '../solana/rules/quoting/solanaFees.ts'
import { FeeFundsError } from './feeFunds.ts'
import { FlatFees } from './flatFees.ts'
import type { CostedTransaction } from './networkFees.ts'

const fees = new FlatFees({ transferFee: 7n })

describe('F-157: an exchange takes its flat fee', () => {
  test.each(['deposit', 'send-input', 'fill', 'refund'] as const)('for a %s', (kind) => {
    expect(fees.costOf({ kind, isNative: true })).toBe(7n)
    expect(fees.costOf({ kind, isNative: false })).toBe(7n)
  })

  test.each<CostedTransaction['kind']>(['approve', 'swap', 'sweep', 'pay-address', 'fill-topup'])(
    'and sends no %s',
    (kind) => {
      expect(() => fees.costOf({ kind, isNative: true })).toThrow(`no ${kind} is sent`)
    },
  )

  test('and for each account that a transfer makes, without gas and without a least payment', () => {
    expect([fees.rentOf({ accountFee: 3n }), fees.rentOf({}), fees.leastPayment()]).toEqual([3n, 0n, 0n])
    expect(fees.gasOf()).toBeUndefined()
  })
})

test('two readings are one price where the fee is the same, in one family', () => {
  const others = [
    new FlatFees({ transferFee: 7n }),
    new FlatFees({ transferFee: 8n }),
    new SolanaFees({ lamportsPerSignature: 7n, microLamportsPerUnit: 7n, rentLamportsPerByte: 7n }),
  ]
  expect(others.map((other) => fees.equals(other))).toEqual([true, false, false])
})

test('F-98: who has too little for the network is told both amounts, in its unit', () => {
  const { message, data, code, kind } = new FeeFundsError('depositFeePayer', { coin: 3n }, 5n, 'lamports')
  expect(message).toContain('depositFeePayer has 3 lamports')
  expect(message).toContain('takes 5 lamports')
  expect(data).toEqual({ field: 'depositFeePayer', availableAmount: '3', neededAmount: '5' })
  expect([code, kind]).toEqual(['INSUFFICIENT_FUNDS', 'invalid_request'])
})
