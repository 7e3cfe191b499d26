// Goal: what is lost is counted in full, and a deposit has one key and one refund. Method: exact amounts, and keys that are
// nearly right.
import { refundId } from '@causeway/core'
import { expect, test } from 'vitest'
import { depositKey, depositOfKey, lossOf, mostPaidFor, refundIdOf, type SeenDeposit } from './verdict.ts'

const orderId = `0x${'0d'.repeat(32)}` as const
const deposit: SeenDeposit = {
  chainId: 792_703_809,
  chainKey: 'solana',
  refundChainId: 5n,
  transactionId: '0xab',
  ordinal: 12,
  orderId,
  depositor: 'somebody',
  currency: 'a:b',
  amount: 1_000n,
  inTransaction: 3_000n,
}

test('Q-220: a fill may lose the tolerance of what came in, and a fixed loss beyond', () => {
  const limits = { toleranceBps: 50, lossPerOrderMicroUsd: 3n }
  expect(mostPaidFor(20_000n, limits)).toBe(20_100n + 3n * 10n ** 12n)
  expect(mostPaidFor(199n, { ...limits, lossPerOrderMicroUsd: 0n })).toBe(199n)
})

test('a loss is rounded up, and a gain is none', () => {
  expect([lossOf(1n, 0n), lossOf(10n ** 12n, 0n), lossOf(10n ** 12n + 1n, 0n)]).toEqual([1n, 1n, 2n])
  expect([lossOf(5n, 5n), lossOf(4n, 5n)]).toEqual([0n, 0n])
})

test('the refund of a deposit has the id by the number of its chain in refunds', () => {
  expect(refundIdOf(orderId, deposit)).toBe(refundId(orderId, { ...deposit, chainId: 5n }))
})

test('a key names its deposit again, and nothing that is nearly a key names one', () => {
  const key = depositKey(deposit)
  expect(key).toBe('792703809:0xab:a:b:1000:12')
  expect(depositOfKey(key)).toEqual({ chainId: 792_703_809, currency: 'a:b', amount: 1_000n })
  for (const text of [`x${key}`, `${key}x`, key.replace('1000', 'many'), '1:0xab:usd:12', ''])
    expect(depositOfKey(text)).toBeUndefined()
})
