// Goal: each kind of transaction burns the energy and the bytes that were measured of it. Attacks: a payment to somebody
// who holds none of the token, which takes twice the energy, priced as one to a holder.

import { describe, expect, test } from 'vitest'
import { FlatFees } from '../../../rules/flatFees.ts'
import type { CostedTransaction } from '../../../rules/networkFees.ts'
import { TronFees } from './tronFees.ts'

const tokenEnergy = { toHolder: 1_000n, toNewHolder: 3_000n, approve: 500n }
const fees = new TronFees({ sunPerEnergy: 7n, sunPerByte: 11n, tokenEnergy })
const newcomer = { lack: { holdsNone: true } } as const

describe('F-128: a transaction uses', () => {
  test.each<[string, CostedTransaction, bigint, bigint]>([
    ['an approval', { kind: 'approve', isNative: false }, 500n, 348n],
    ['taking one back', { kind: 'reset-approval', isNative: false }, 500n, 348n],
    ['a deposit of coin', { kind: 'deposit', isNative: true }, 10_000n, 356n],
    ['a deposit of a token', { kind: 'deposit', isNative: false }, 21_000n, 414n],
    ['a transfer to the depository', { kind: 'deposit-transfer', isNative: false }, 1_000n, 381n],
    ['sending coin', { kind: 'send-input', isNative: true }, 0n, 270n],
    ['sending a token, to anybody', { kind: 'send-input', isNative: false }, 3_000n, 348n],
    ['a fill in coin', { kind: 'fill', isNative: true }, 50_000n, 586n],
    ['a fill in a token', { kind: 'fill', isNative: false }, 46_000n, 609n],
    ['one to a holder', { kind: 'fill', isNative: false, lack: {} }, 46_000n, 609n],
    ['one to a newcomer', { kind: 'fill', isNative: false, ...newcomer }, 48_000n, 609n],
    ['a refund of coin', { kind: 'refund', isNative: true }, 50_000n, 586n],
    ['a refund of a token', { kind: 'refund', isNative: false }, 48_000n, 609n],
    ['a top-up', { kind: 'fill-topup', isNative: true }, 20_000n, 75n],
    ['code of the payee', { kind: 'fill', isNative: true, overheadUnits: 9n }, 50_009n, 586n],
  ])('%s', (_what, transaction, energy, bytes) => {
    expect(fees.useOf(transaction)).toEqual({ energy, bytes })
    expect(fees.costOf(transaction)).toBe(energy * 7n + bytes * 11n)
    expect(fees.gasOf(transaction)).toEqual({ expected: energy, limit: energy })
  })
})

test('a fee that was planned is kept', () => {
  expect(fees.costOf({ kind: 'deposit', isNative: true, networkFee: 3n })).toBe(3n)
  expect(fees.costOf({ kind: 'deposit', isNative: true, networkFee: 0n })).toBe(0n)
})

test('a token whose transfer to a newcomer is the cheaper one is sent at the dearer price', () => {
  const strange = { toHolder: 3_000n, toNewHolder: 1_000n, approve: 0n }
  const { energy } = new TronFees({ sunPerEnergy: 1n, sunPerByte: 1n, tokenEnergy: strange }).useOf({
    kind: 'send-input',
    isNative: false,
  })
  expect(energy).toBe(3_000n)
})

test('the fees of an exchange are never those of the chain', () => {
  expect(fees.equals(new FlatFees({ transferFee: 0n }))).toBe(false)
})
