// Goal: a transaction on Solana pays for its signatures, the units that it asks for, and the state that stays behind it.

import { describe, expect, test } from 'vitest'
import { FlatFees } from '../../../rules/flatFees.ts'
import type { CostedTransaction } from '../../../rules/networkFees.ts'
import { SolanaFees } from './solanaFees.ts'

const facts = { lamportsPerSignature: 5_000n, microLamportsPerUnit: 1_000_000n, rentLamportsPerByte: 10n }
const fees = new SolanaFees(facts)
const withAccount = { lack: { stateBytes: 165 } } as const

describe('a transaction asks for', () => {
  test.each<[string, CostedTransaction, bigint]>([
    ['a deposit of coin', { kind: 'deposit', isNative: true }, 60_000n],
    ['a deposit of a token', { kind: 'deposit', isNative: false }, 90_000n],
    ['coin that is sent', { kind: 'send-input', isNative: true }, 60_000n],
    ['a token that is sent', { kind: 'send-input', isNative: false }, 90_000n],
    ['one that makes an account', { kind: 'send-input', isNative: false, ...withAccount }, 120_000n],
    ['one that lacks no bytes', { kind: 'send-input', isNative: false, lack: { stateBytes: 0 } }, 90_000n],
    ['a payment to an address', { kind: 'pay-address', isNative: true }, 60_000n],
    ['a fill', { kind: 'fill', isNative: true }, 60_000n],
    ['a refund that makes an account', { kind: 'refund', isNative: false, ...withAccount }, 120_000n],
    ['a sweep', { kind: 'sweep', isNative: true }, 150_000n],
    ['a top-up', { kind: 'fill-topup', isNative: true }, 3_000n],
  ])('units for %s', (_what, transaction, units) => {
    expect(fees.unitsOf(transaction)).toBe(units)
    expect(fees.gasOf(transaction)).toEqual({ expected: units, limit: units })
  })
})

describe('beside its units a transaction pays', () => {
  const besideUnits = (transaction: CostedTransaction) => fees.costOf(transaction) - fees.unitsOf(transaction)

  test.each<[string, CostedTransaction, bigint]>([
    ['one signature', { kind: 'deposit', isNative: true }, 5_000n],
    ['each of two', { kind: 'deposit', isNative: true, signatures: 2 }, 10_000n],
    ['the mark of a fill', { kind: 'fill', isNative: true }, 6_290n],
    ['the mark of a refund', { kind: 'refund', isNative: true }, 6_290n],
    ['the mark of a sweep', { kind: 'sweep', isNative: true }, 6_290n],
    ['nothing for a part of a fill', { kind: 'fill-topup', isNative: true }, 0n],
  ])('%s', (_what, transaction, lamports) => {
    expect(besideUnits(transaction)).toBe(lamports)
  })
})

test('an account that is not there must be paid its rent at least, and any other anything', () => {
  expect([fees.leastPayment({ isAbsent: true }), fees.leastPayment({})]).toEqual([1_280n, 0n])
  expect([fees.rentOf({ stateBytes: 1 }), fees.rentOf({})]).toEqual([1_290n, 0n])
})

test.each([
  ['signature', { lamportsPerSignature: 1n }],
  ['unit', { microLamportsPerUnit: 1n }],
  ['byte', { rentLamportsPerByte: 1n }],
])('two readings are one price, unless the price of a %s is another', (_what, change) => {
  expect(fees.equals(new SolanaFees(facts))).toBe(true)
  expect(fees.equals(new SolanaFees({ ...facts, ...change }))).toBe(false)
  expect(fees.equals(new FlatFees({ transferFee: 0n }))).toBe(false)
})
