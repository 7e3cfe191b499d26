// Vector of the public protocol for lighter-vm, the message that is signed, and what is no transfer.

import type { Hex } from '@causeway/core'
import { InvalidWithdrawalError } from '@causeway/core/encodings'
import fc from 'fast-check'
import { encodeAbiParameters } from 'viem'
import { describe, expect, test } from 'vitest'
import { damaged, expectTypedOrSame } from '../../../../core/test/fixtures/hostileBytes.ts'
import {
  decodeLighterWithdrawal,
  encodeLighterWithdrawal,
  type LighterWithdrawal,
  lighterTransferMessage,
  lighterWithdrawalId,
  lighterWithdrawalTransfer,
} from './withdrawal.ts'

const published: LighterWithdrawal = {
  nonce: 1n,
  fromAccountIndex: 460_491n,
  fromRouteType: 0n,
  apiKeyIndex: 4n,
  toAccountIndex: 462_196n,
  toRouteType: 0n,
  assetIndex: 3n,
  amount: 1_000_000n,
  usdcFee: 3_000_000n,
  lighterChainId: 304n,
  memo: `0x${'abcd1234'.repeat(8)}`,
}

test('the published transfer has the published id, from its parts and from its bytes', () => {
  const id = '0xd0780266cca3ea70d56618eda93ed8db4b554a19424f6c1f2ae25ee420f4e3e2'
  expect(lighterWithdrawalId(published)).toBe(id)
  expect(lighterWithdrawalId(decodeLighterWithdrawal(encodeLighterWithdrawal(published)))).toBe(id)
})

test('the message names every part in hex of 16 digits', () => {
  expect(lighterTransferMessage(published).split('\n')).toEqual([
    'Transfer',
    '',
    'nonce: 0x0000000000000001',
    'from: 0x00000000000706cb (route 0x0000000000000000)',
    'api key: 0x0000000000000004',
    'to: 0x0000000000070d74 (route 0x0000000000000000)',
    'asset: 0x0000000000000003',
    'amount: 0x00000000000f4240',
    'fee: 0x00000000002dc6c0',
    'chainId: 0x0000000000000130',
    `memo: ${'abcd1234'.repeat(8)}`,
    'Only sign this message for a trusted client!',
  ])
})

describe('the currency', () => {
  test.each<[string, bigint, bigint, string]>([
    ['perps USDC is the native one', 3n, 0n, '0'],
    ['spot USDC goes by its index', 3n, 1n, '3'],
    ['ether goes by its index', 1n, 1n, '1'],
    ['another asset of the perps account goes by its index', 7n, 0n, '7'],
  ])('%s', (_what, assetIndex, fromRouteType, currency) => {
    expect(lighterWithdrawalTransfer({ ...published, assetIndex, fromRouteType })).toEqual({
      currency,
      amount: 1_000_000n,
      recipient: '462196',
    })
  })
})

describe('is refused', () => {
  const valid = encodeLighterWithdrawal(published)
  const withWord = (index: number, value: bigint): Hex => {
    const at = 2 + 64 * index
    return `0x${valid.slice(2, at)}${value.toString(16).padStart(64, '0')}${valid.slice(at + 64)}`
  }
  test.each<[string, string]>([
    ['nothing', '0x'],
    ['no prefix', valid.slice(2)],
    ['another action', withWord(1, 1n)],
    ['another offset', withWord(2, 0x60n)],
    ['another length of the parameters', withWord(3, 320n)],
    ['an enormous length of the parameters', withWord(3, 2n ** 256n - 1n)],
    ['an amount above uint64', withWord(11, 2n ** 64n)],
    ['a missing word', valid.slice(0, -64)],
    ['a tail', `${valid}${'00'.repeat(32)}`],
  ])('%s', (_what, bytes) => {
    // CAST: what arrives from outside before anything is known about it.
    expect(() => decodeLighterWithdrawal(bytes as Hex)).toThrow(InvalidWithdrawalError)
  })
})

test('a number that is no uint64 is neither encoded nor signed, and the largest is both', () => {
  for (const amount of [-1n, 2n ** 64n]) {
    expect(() => encodeLighterWithdrawal({ ...published, amount })).toThrow(RangeError)
    expect(() => lighterTransferMessage({ ...published, amount })).toThrow(RangeError)
  }
  const largest = { ...published, amount: 2n ** 64n - 1n, usdcFee: 0n }
  expect(decodeLighterWithdrawal(encodeLighterWithdrawal(largest))).toEqual(largest)
  expect(lighterTransferMessage(largest)).toContain('amount: 0xffffffffffffffff')
})

const uint64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n })
const withdrawals: fc.Arbitrary<LighterWithdrawal> = fc.record({
  nonce: uint64,
  fromAccountIndex: uint64,
  fromRouteType: uint64,
  apiKeyIndex: uint64,
  toAccountIndex: uint64,
  toRouteType: uint64,
  assetIndex: uint64,
  amount: uint64,
  usdcFee: uint64,
  lighterChainId: uint64,
  memo: fc
    .uint8Array({ minLength: 32, maxLength: 32 })
    .map((bytes): Hex => `0x${Buffer.from(bytes).toString('hex')}`),
})
const numberNames = [
  ...['nonce', 'fromAccountIndex', 'fromRouteType', 'apiKeyIndex', 'toAccountIndex', 'toRouteType'],
  ...['assetIndex', 'amount', 'usdcFee', 'lighterChainId'],
]
const parameterType = {
  type: 'tuple',
  components: [...numberNames.map((name) => ({ name, type: 'uint64' })), { name: 'memo', type: 'bytes32' }],
}
const actionType = {
  type: 'tuple',
  components: [
    { name: 'actionType', type: 'uint8' },
    { name: 'parameters', type: 'bytes' },
  ],
}

test('bytes equal viem, and read back', () => {
  fc.assert(
    fc.property(withdrawals, (withdrawal) => {
      const parameters = encodeAbiParameters([parameterType], [withdrawal])
      const encoded = encodeLighterWithdrawal(withdrawal)
      expect(encoded).toBe(encodeAbiParameters([actionType], [{ actionType: 0, parameters }]))
      expect(decodeLighterWithdrawal(encoded)).toEqual(withdrawal)
    }),
    { endOnFailure: true },
  )
})

test('2,000 hostile withdrawals are refused by name or read back as they came', () => {
  fc.assert(
    fc.property(damaged(withdrawals.map(encodeLighterWithdrawal)), (bytes) => {
      expectTypedOrSame(bytes, () => {
        const withdrawal = decodeLighterWithdrawal(bytes)
        lighterWithdrawalTransfer(withdrawal)
        lighterWithdrawalId(withdrawal)
        return encodeLighterWithdrawal(withdrawal)
      })
    }),
    { numRuns: 2_000, endOnFailure: true },
  )
})
