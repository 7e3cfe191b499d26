// Vectors of the public protocol for solana-vm, and what is no transfer request.

import type { Hex } from '@causeway/core'
import { InvalidWithdrawalError } from '@causeway/core/encodings'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { accounts } from '../../../../core/test/arbitraries/addresses.ts'
import { damaged, expectTypedOrSame } from '../../../../core/test/fixtures/hostileBytes.ts'
import {
  decodeSolanaWithdrawal,
  encodeSolanaWithdrawal,
  type SolanaWithdrawal,
  solanaWithdrawalId,
  solanaWithdrawalTransfer,
} from './withdrawal.ts'

const published =
  `0x${'ab'.repeat(32)}069b8857feab8184fb687f634618c035dac439dc1aeb3b5598a0f00000000001${'00'}15cd5b07000000000700000000000000006074670000000006ddf6e1d765a193d9cbe146ceeb79ac1cb485ed5f5b37913a8cf5857eff00a9` as const
const payment: SolanaWithdrawal = {
  domain: `0x${'01'.repeat(32)}`,
  recipient: '7EaP2zkxDLo86x4rnNwwLhB593PsbMva41dqfrfxhsb1',
  token: undefined,
  amount: 1_000_000n,
  nonce: 9n,
  expiration: 1_800_000_000n,
  vaultAddress: '99vQwtBwYtrqqD9YSXbdum3KBdxPAVxYTaQ3cfnJSrN2',
}
const mint = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'

test('the published bytes have the published id and parts', () => {
  const withdrawal = decodeSolanaWithdrawal(published)
  expect(withdrawal).toMatchObject({ token: undefined, amount: 123_456_789n, nonce: 7n })
  expect(withdrawal.expiration).toBe(1_735_680_000n)
  expect(encodeSolanaWithdrawal(withdrawal)).toBe(published)
  expect(solanaWithdrawalId(withdrawal)).toBe(
    '0x8a67bb2feb87ddb1a954ca9a980a0e6ead37a03874d8466162b60e2d6e9ed8f5',
  )
})

test('a payment of SOL has the published id', () => {
  expect(solanaWithdrawalId(payment)).toBe(
    '0xf5cf25d6442e708dfadf73dd609b578a698cc55f2d309bfce1ae47dfef924bf2',
  )
})

test('pays SOL without a mint and the mint otherwise', () => {
  const { recipient, amount } = payment
  expect(solanaWithdrawalTransfer(payment)).toEqual({ currency: '1'.repeat(32), recipient, amount })
  expect(solanaWithdrawalTransfer({ ...payment, token: mint })).toEqual({ currency: mint, recipient, amount })
})

test('P-112: a mint that is spelled like SOL pays nothing', () => {
  const encoded = encodeSolanaWithdrawal({ ...payment, token: '1'.repeat(32) })
  expect(() => solanaWithdrawalTransfer(decodeSolanaWithdrawal(encoded))).toThrow(InvalidWithdrawalError)
})

describe('is refused', () => {
  const valid = encodeSolanaWithdrawal(payment)
  const withTag = (tag: string): Hex => `0x${valid.slice(2, 130)}${tag}${valid.slice(132)}`
  test.each<[string, string]>([
    ['nothing', '0x'],
    ['no prefix', valid.slice(2)],
    ['half a byte', `${valid}0`],
    ['other characters', `${valid.slice(0, -2)}zz`],
    ['a missing byte', valid.slice(0, -2)],
    ['a tail', `${valid}00`],
    ['the stale layout without domain and vault', `0x${valid.slice(66, -64)}`],
    ['an option that is neither none nor some', withTag('02')],
    ['a mint that is announced and missing', withTag('01')],
    ['a mint that nothing announces', `0x${valid.slice(2, 130)}00${'11'.repeat(32)}${valid.slice(132)}`],
  ])('%s', (_what, bytes) => {
    // CAST: what arrives from outside before anything is known about it.
    expect(() => decodeSolanaWithdrawal(bytes as Hex)).toThrow(InvalidWithdrawalError)
  })
})

test('a number that does not fit cannot be encoded', () => {
  expect(() => encodeSolanaWithdrawal({ ...payment, amount: 2n ** 64n })).toThrow(RangeError)
  expect(() => encodeSolanaWithdrawal({ ...payment, expiration: 2n ** 63n })).toThrow(RangeError)
})

const key = accounts['solana-vm'].map(({ text }) => text)
const uint64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n })
const withdrawals: fc.Arbitrary<SolanaWithdrawal> = fc.record({
  domain: fc
    .uint8Array({ minLength: 32, maxLength: 32 })
    .map((bytes): Hex => `0x${Buffer.from(bytes).toString('hex')}`),
  recipient: key,
  token: fc.option(key, { nil: undefined }),
  amount: uint64,
  nonce: uint64,
  expiration: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  vaultAddress: key,
})

test('every request reads back, in either case of its digits', () => {
  fc.assert(
    fc.property(withdrawals, (withdrawal) => {
      const encoded = encodeSolanaWithdrawal(withdrawal)
      expect(decodeSolanaWithdrawal(encoded)).toEqual(withdrawal)
      expect(decodeSolanaWithdrawal(`0x${encoded.slice(2).toUpperCase()}`)).toEqual(withdrawal)
    }),
    { endOnFailure: true },
  )
})

test('2,000 hostile withdrawals are refused by name or read back as they came', () => {
  fc.assert(
    fc.property(damaged(withdrawals.map(encodeSolanaWithdrawal)), (bytes) => {
      expectTypedOrSame(bytes, () => {
        const withdrawal = decodeSolanaWithdrawal(bytes)
        solanaWithdrawalTransfer(withdrawal)
        return encodeSolanaWithdrawal(withdrawal)
      })
    }),
    { numRuns: 2_000, endOnFailure: true },
  )
})
