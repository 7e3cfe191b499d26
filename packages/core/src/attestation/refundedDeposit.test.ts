// Goal: a deposit is the same one wherever a reorganization puts it, whatever a hostile contract in its transaction
// does in one branch and not in another. Method: the deposits of one transaction with dust put among them.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Hex } from '../hex.ts'
import { refundId } from '../order/refundId.ts'
import { ordinalOf, refundedDeposit } from './refundedDeposit.ts'

const orderId: Hex = `0x${'0d'.repeat(32)}`
const usdc = `0x${'cc'.repeat(20)}`
const real = {
  onchainIndex: '0',
  depositId: orderId,
  depository: usdc,
  depositor: usdc,
  currency: usdc,
  amount: 1_000n,
}
const dust = fc.record({
  depositId: fc.constantFrom<Hex>(orderId, `0x${'0e'.repeat(32)}`),
  currency: fc.constantFrom(usdc, `0x${'ba'.repeat(20)}`),
  amount: fc.bigInt({ min: 0n, max: 3n }),
})

test('P-44: dust in one branch does not move the real deposit', () => {
  fc.assert(
    fc.property(fc.array(dust), fc.array(dust), (before, after) => {
      expect(ordinalOf(real, [...before, real, ...after])).toBe(0)
    }),
  )
})

test('P-44: an equal amount of another order or currency is no equal deposit', () => {
  const others = [
    { ...real, depositId: `0x${'0e'.repeat(32)}` as const },
    { ...real, currency: `0x${'ba'.repeat(20)}` },
    { ...real, depositId: `0x${'0e'.repeat(32)}` as const, currency: `0x${'ba'.repeat(20)}` },
  ]
  expect(ordinalOf(real, [...others, real])).toBe(0)
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
  const first = { chainId: 10, transactionId: `0x${'ab'.repeat(32)}`, currency, amount, ordinal: 0 }
  expect(ids[0]).toBe(refundId(orderId, first))
})
