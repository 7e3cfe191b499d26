// Withdrawals of tron-vm: the bytes and ids of ethereum-vm, other spellings.

import type { Hex } from '@causeway/core'
import {
  codecOf,
  InvalidAddressError,
  InvalidWithdrawalError,
  mainNetwork,
  tronAddress,
  tronEvmAddress,
} from '@causeway/core/encodings'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { damaged, outcomeOf } from '../../../../core/test/fixtures/hostileBytes.ts'
import { repeated } from '../../../../core/test/vectors/orders.ts'
import { encodeTransfer } from '../../ethereum/rules/abi.ts'
import {
  decodeEvmWithdrawal,
  type EvmWithdrawal,
  encodeEvmWithdrawal,
  evmWithdrawalId,
} from '../../ethereum/rules/withdrawal.ts'
import { tronWithdrawalTransfer } from './withdrawalTransfer.ts'

const base58 = 'TXtEs6t2oUWQsNos7m68gbHdE9Q5n6x2oN'
const digits = 'f0623e1012177482912fb057e44e1a9769b1f588'
const pay = (call: { to: Hex; data?: Hex; value?: bigint }): EvmWithdrawal => ({
  calls: [{ data: '0x', value: 0n, allowFailure: false, ...call }],
  nonce: 5n,
  expiration: 1_800_000_000n,
})

describe('an account', () => {
  test.each([base58, `41${digits}`, `0x41${digits}`, `0x${digits}`, `0x${digits.toUpperCase()}`])(
    'spelled %s is one account',
    (spelling) => {
      expect(tronAddress(spelling)).toBe(base58)
      expect(tronEvmAddress(spelling)).toBe(`0x${digits}`)
    },
  )

  test('whose 20 bytes start like the prefix keeps all of them', () => {
    const account: Hex = `0x41${'22'.repeat(19)}`
    expect(tronEvmAddress(tronAddress(account))).toBe(account)
  })

  test.each<[string, string]>([
    ['bare 20 bytes', digits],
    ['another prefix', `0x42${digits}`],
    ['22 bytes', `0x4141${digits}`],
    ['half a byte', `0x${digits}0`],
    ['a broken checksum', `${base58.slice(0, -1)}M`],
    ['nothing', ''],
  ])('is refused with %s', (_what, spelling) => {
    expect(() => tronAddress(spelling)).toThrow(InvalidAddressError)
    expect(() => tronEvmAddress(spelling)).toThrow(InvalidAddressError)
  })

  test('of another network is refused', () => {
    expect(() => tronAddress(base58, { addressPrefix: 0xa0 })).toThrow(InvalidAddressError)
    expect(tronAddress(`0x${digits}`, { addressPrefix: 0xa0 })).not.toBe(base58)
  })
})

describe('the payment', () => {
  test('of a native withdrawal is in base58, and its id the published one', () => {
    const withdrawal = pay({ to: `0x${digits}`, value: 1000n })
    expect(evmWithdrawalId(withdrawal)).toBe(
      '0x4b6033037ca2014c0453a04395a7d87d038bba92f0f161a8231a0e850f9a6bdb',
    )
    expect(tronWithdrawalTransfer(withdrawal)).toEqual({
      currency: 'T9yD14Nj9j7xAB4dbGeiX9h8unkKHxuWwb',
      amount: 1000n,
      recipient: base58,
    })
  })

  test('of a token equals the bytes that a request in base58 has', () => {
    const token = repeated('33', 20)
    const transfer = tronWithdrawalTransfer(pay({ to: token, data: encodeTransfer(`0x${digits}`, 7n) }))
    expect(transfer).toEqual({ currency: tronAddress(token), amount: 7n, recipient: base58 })
    const codec = codecOf(mainNetwork('tron-vm'))
    expect(codec.encodeAddress(transfer.recipient)).toEqual(codec.encodeAddress(base58))
    expect(codec.encodeCurrency(transfer.currency)).toEqual(
      Uint8Array.of(0x41, ...new Uint8Array(20).fill(0x33)),
    )
  })

  test('is refused with two calls', () => {
    const { calls, ...rest } = pay({ to: `0x${digits}`, value: 1n })
    expect(() => tronWithdrawalTransfer({ calls: [...calls, ...calls], ...rest })).toThrow(
      InvalidWithdrawalError,
    )
  })
})

test('2,000 hostile withdrawals are refused by name or pay in base58', () => {
  const amounts = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n })
  const valid = fc.oneof(
    amounts.map((value) => encodeEvmWithdrawal(pay({ to: `0x${digits}`, value }))),
    amounts.map((value) =>
      encodeEvmWithdrawal(pay({ to: repeated('33', 20), data: encodeTransfer(`0x${digits}`, value) })),
    ),
  )
  fc.assert(
    fc.property(damaged(valid), (bytes) => {
      const transfer = outcomeOf(() => tronWithdrawalTransfer(decodeEvmWithdrawal(bytes)))
      if (transfer !== undefined) expect(tronAddress(transfer.recipient)).toBe(transfer.recipient)
    }),
    { numRuns: 2_000, endOnFailure: true },
  )
})

test('on another network accounts and tokens have its prefix, and coin has the one name that it has everywhere', () => {
  const network = { addressPrefix: 0xa0 }
  const to: Hex = `0x${digits}`
  const recipient = tronAddress(to, network)
  expect(tronWithdrawalTransfer(pay({ to, value: 9n }), network)).toEqual({
    currency: codecOf(mainNetwork('tron-vm')).nativeCurrency,
    amount: 9n,
    recipient,
  })
  expect(tronWithdrawalTransfer(pay({ to, data: encodeTransfer(to, 7n) }), network)).toEqual({
    currency: recipient,
    amount: 7n,
    recipient,
  })
})
