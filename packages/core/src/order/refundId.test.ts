// Goal: an offer of the same refund has the same id, and nothing else has it, wherever a reorganization puts the
// deposit, whatever a hostile contract in its transaction does in one branch and not in another.
import fc from 'fast-check'
import { encodeAbiParameters, keccak256, toHex } from 'viem'
import { expect, test } from 'vitest'
import type { Hex } from '../hex.ts'
import { ordinalOf, refundedDeposit, refundId } from './refundId.ts'

const orderId: Hex = `0x${'0d'.repeat(32)}`
const deposit = {
  ...{ chainId: 10, transactionId: `0x${'ab'.repeat(32)}`, ordinal: 3 },
  ...{ currency: `0x${'cc'.repeat(20)}`, amount: 2n ** 200n },
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

test('another order, chain, transaction, currency, amount or place among equals has another id, and none is the order id', () => {
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

const usdc = `0x${'cc'.repeat(20)}`
const real = {
  ...{ onchainIndex: '0', depositId: orderId, depository: usdc, depositor: usdc },
  ...{ currency: usdc, amount: 1_000n },
}
const dust = fc.record({
  depositId: fc.constantFrom<Hex>(orderId, `0x${'0e'.repeat(32)}`),
  currency: fc.constantFrom(usdc, `0x${'ba'.repeat(20)}`),
  amount: fc.bigInt({ min: 0n, max: 3n }),
})

test('dust in one branch does not move the real deposit', () => {
  fc.assert(
    fc.property(fc.array(dust), fc.array(dust), (before, after) => {
      expect(ordinalOf(real, [...before, real, ...after])).toBe(0)
    }),
  )
})

test('equal deposits of one transaction are told apart', () => {
  const twice = [{ ...real }, { ...real }, { ...real, amount: 1n }]
  expect(twice.slice(0, 2).map((each) => ordinalOf(each, twice))).toEqual([0, 1])
  const ids = twice.map((each) => {
    const place = { chainId: 10, transactionId: `0x${'AB'.repeat(32)}`, deposits: twice }
    return refundId(orderId, refundedDeposit(each, place))
  })
  expect(new Set(ids).size).toBe(3)
  const { currency, amount } = real
  const first = { ...deposit, currency, amount, ordinal: 0 }
  expect(ids[0]).toBe(refundId(orderId, first))
})
