// Vectors of order ids, rule P-128, and what an order id refuses.
import { concat, keccak256, recoverMessageAddress } from 'viem'
import { describe, expect, test } from 'vitest'
import {
  networkOf,
  orderA,
  orderB,
  orderBId,
  orderBSignature,
  orderC,
  orderCId,
  orderOfQuote,
} from '../../test/vectors/orders.ts'
import { UnknownChainError } from '../chain/protocolChain.ts'
import { InvalidAddressError } from '../encodings/errors.ts'
import { bytesToHex } from '../hashing/hexBytes.ts'
import { typeHash } from '../hashing/typedData.ts'
import type { Order } from './order.ts'
import { orderId, orderWords } from './orderId.ts'
import { orderType, typesInsideOrder } from './orderTypes.ts'

describe('orderId', () => {
  test.each<[string, Order, string]>([
    ['order A', orderA, '0x67f44dc715059f196cd133e54e4bbe125773cb6d7053d24389fbda361f4c14d8'],
    ['order B', orderB, orderBId],
    ['order C', orderC, orderCId],
    [
      'the order of the quote example',
      orderOfQuote,
      '0x49a700e9aa2c4573cab6610923059322e828484ae66208d7fcbd26a52a985c6a',
    ],
  ])('of %s is the published one', (_name, order, id) => {
    expect(orderId(order, networkOf)).toBe(id)
  })

  test('P-128: of order B is what its published signature signs', async () => {
    const signer = await recoverMessageAddress({
      message: { raw: orderId(orderB, networkOf) },
      signature: orderBSignature,
    })
    expect(signer.toLowerCase()).toBe(orderB.solver)
  })

  test('does not depend on the case of addresses, but on that of text', () => {
    const upper = `0x${orderB.solver.slice(2).toUpperCase()}`
    expect(orderId({ ...orderB, solver: upper }, networkOf)).toBe(orderBId)
    expect(orderId({ ...orderB, solverChainId: 'Base' }, networkOf)).not.toBe(orderBId)
  })

  test('takes the salt in hex as in decimal', () => {
    expect(orderId({ ...orderB, salt: '0x01' }, networkOf)).toBe(orderBId)
  })

  test('P-128: is the hash of its type and of seven words, which a contract can hash itself', () => {
    const { version, solverChainId, solver, salt, inputs, output, fees } = orderWords(orderB, networkOf)
    expect(solver).toBe(`0x${'0'.repeat(24)}${orderB.solver.slice(2)}`)
    expect(BigInt(salt)).toBe(BigInt(orderB.salt))
    const words = [version, solverChainId, solver, salt, inputs, output, fees]
    expect(keccak256(concat([bytesToHex(typeHash(orderType, typesInsideOrder)), ...words]))).toBe(orderBId)
  })

  test('does not need the chain of the solver', () => {
    expect(() => orderId({ ...orderB, solverChainId: 'relay' }, networkOf)).not.toThrow()
  })
})

const [inputB] = orderB.inputs
if (inputB === undefined) throw new Error('order B has an input')
const [refundB] = inputB.refunds
const [feeB] = orderB.fees
if (refundB === undefined || feeB === undefined) throw new Error('order B has a refund and a fee')

describe('an unknown chain is refused', () => {
  test.each<[string, Order]>([
    ['of a payment', { ...orderB, inputs: [{ ...inputB, payment: { ...inputB.payment, chainId: 'nope' } }] }],
    ['of a refund', { ...orderB, inputs: [{ ...inputB, refunds: [{ ...refundB, chainId: 'nope' }] }] }],
    ['of the output', { ...orderB, output: { ...orderB.output, chainId: 'nope' } }],
    ['of a fee recipient', { ...orderB, fees: [{ ...feeB, recipientChainId: 'nope' }] }],
    ['of a fee currency', { ...orderB, fees: [{ ...feeB, currencyChainId: 'nope' }] }],
  ])('%s', (_where, order) => {
    expect(() => orderId(order, networkOf)).toThrow(
      expect.objectContaining({
        code: 'UNKNOWN_CHAIN',
        kind: 'invalid_request',
        message: 'The chain nope is not configured.',
        data: { chainId: 'nope' },
      }),
    )
  })

  test('without repeating a very long name', () => {
    const error = new UnknownChainError('x'.repeat(100_000))
    expect(error.message.length).toBeLessThan(100)
  })
})

describe('a wrong address is refused by the name of its field', () => {
  const wrong = 'T9yD14Nj9j7xAB4dbGeiX9h8unkKHxuWwb'
  const [paymentB] = orderB.output.payments
  if (paymentB === undefined) throw new Error('order B has an output payment')
  const withPayment = (payment: typeof paymentB): Order => ({
    ...orderB,
    output: { ...orderB.output, payments: [payment] },
  })

  test.each<[string, Order]>([
    ['solver', { ...orderB, solver: wrong }],
    [
      'inputs[].payment.currency',
      { ...orderB, inputs: [{ ...inputB, payment: { ...inputB.payment, currency: wrong } }] },
    ],
    [
      'inputs[].refunds[].recipient',
      { ...orderB, inputs: [{ ...inputB, refunds: [{ ...refundB, recipient: wrong }] }] },
    ],
    [
      'inputs[].refunds[].currency',
      { ...orderB, inputs: [{ ...inputB, refunds: [{ ...refundB, currency: wrong }] }] },
    ],
    ['output.payments[].recipient', withPayment({ ...paymentB, recipient: wrong })],
    ['output.payments[].currency', withPayment({ ...paymentB, currency: wrong })],
    ['fees[].recipient', { ...orderB, fees: [{ ...feeB, recipient: wrong }] }],
    ['fees[].currency', { ...orderB, fees: [{ ...feeB, currency: wrong }] }],
  ])('%s', (field, order) => {
    expect(() => orderId(order, networkOf)).toThrow(InvalidAddressError)
    expect(() => orderId(order, networkOf)).toThrow(
      expect.objectContaining({
        data: { vmType: 'ethereum-vm', reason: 'expected 0x and 40 hex digits', field },
      }),
    )
  })
})

test.each<[string, Order]>([
  ['an amount below zero', { ...orderB, salt: '-1' }],
  ['an amount above 2^256 - 1', { ...orderB, salt: (2n ** 256n).toString() }],
])('%s is a bug of the caller, never cut to size', (_what, order) => {
  expect(() => orderId(order, networkOf)).toThrow(RangeError)
})
