// Goal: an offer of the same refund has the same id, and nothing else has it.
import { encodeAbiParameters, keccak256, toHex } from 'viem'
import { expect, test } from 'vitest'
import type { Hex } from '../hex.ts'
import { refundId } from './refundId.ts'

const orderId: Hex = `0x${'0d'.repeat(32)}`
const deposit = {
  chainId: 10,
  transactionId: `0x${'ab'.repeat(32)}`,
  ordinal: 3,
  currency: `0x${'cc'.repeat(20)}`,
  amount: 2n ** 200n,
}

test('is the hash of the order and the deposit, each part in its place', () => {
  const words = [
    keccak256(toHex('refund of a deposit')),
    orderId,
    BigInt(deposit.chainId),
    keccak256(toHex(deposit.transactionId)),
    keccak256(toHex(deposit.currency)),
    deposit.amount,
    BigInt(deposit.ordinal),
  ] as const
  const types = ['bytes32', 'bytes32', 'uint256', 'bytes32', 'bytes32', 'uint256', 'uint256'].map((type) => ({
    type,
  }))
  expect(refundId(orderId, deposit)).toBe(keccak256(encodeAbiParameters(types, words)))
})

test('P-44: another order, chain, transaction, currency, amount or place among equals has another id, and none is the order id', () => {
  const ids = [
    refundId(orderId, deposit),
    refundId(`0x${'0e'.repeat(32)}`, deposit),
    refundId(orderId, { ...deposit, chainId: 8453 }),
    refundId(orderId, { ...deposit, transactionId: `0x${'ac'.repeat(32)}` }),
    refundId(orderId, { ...deposit, ordinal: 4 }),
    refundId(orderId, { ...deposit, amount: 1n }),
    refundId(orderId, { ...deposit, currency: `0x${'cd'.repeat(20)}` }),
    orderId,
  ]
  expect(new Set(ids).size).toBe(8)
})

test('P-44: a chain id that is no safe integer has its id', () => {
  const chainId = 2n ** 200n
  expect(refundId(orderId, { ...deposit, chainId })).not.toBe(refundId(orderId, deposit))
  expect(refundId(orderId, { ...deposit, chainId: BigInt(deposit.chainId) })).toBe(refundId(orderId, deposit))
})
