// Vectors of the public protocol, and what a message id refuses.

import type { Hex } from '@causeway/core'
import {
  depositMessageId,
  fillMessageId,
  refundMessageId,
  UnknownChainError,
  UnknownOrderPartError,
  withdrawalMessageId,
} from '@causeway/core'
import {
  codecOf,
  InvalidAddressError,
  InvalidTransactionIdError,
  mainNetwork,
  vmTypes,
} from '@causeway/core/encodings'
import fc from 'fast-check'
import { hashStruct, toHex } from 'viem'
import { describe, expect, test } from 'vitest'
import { accounts, currencies, transactionIds } from '../../../core/test/arbitraries/addresses.ts'
import { orders, randomNetworkOf } from '../../../core/test/arbitraries/orders.ts'
import {
  ethereumDeposit,
  ethereumDepositId,
  ethereumWithdrawal,
  fillOfOrderB,
  refundOfOrderB,
  solanaDeposit,
} from '../../../core/test/vectors/messages.ts'
import { networkOf, orderBId, repeated } from '../../../core/test/vectors/orders.ts'
import { orderTypedData } from '../../../core/test/vectors/orderTypedData.ts'
import { encodeEvmWithdrawal } from '../ethereum/rules/withdrawal.ts'

const withdrawal = encodeEvmWithdrawal({
  calls: [{ to: repeated('22', 20), data: '0x', value: 1000n, allowFailure: false }],
  nonce: 5n,
  expiration: 1800000000n,
})

describe('a deposit', () => {
  test.each([
    ['ethereum', ethereumDeposit, ethereumDepositId],
    ['solana', solanaDeposit, '0xc26494ced2c45a9dc91e502d7acdd1607352cf86daecc47010d093900a505a29'],
  ])('on %s has the published id', (_chain, message, id) => {
    expect(depositMessageId(message, networkOf)).toBe(id)
  })

  test.each(vmTypes)('on %s has the id that viem computes', (vmType) => {
    const types = {
      DepositoryDeposit: [
        { name: 'data', type: 'Data' },
        { name: 'result', type: 'Result' },
      ],
      Data: [
        { name: 'chainId', type: 'string' },
        { name: 'transactionId', type: 'bytes' },
      ],
      Result: [
        { name: 'onchainId', type: 'bytes32' },
        { name: 'depository', type: 'bytes' },
        { name: 'depositId', type: 'bytes32' },
        { name: 'depositor', type: 'bytes' },
        { name: 'currency', type: 'bytes' },
        { name: 'amount', type: 'uint256' },
      ],
    }
    const chainId = vmType.replace('-vm', '')
    const amounts = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n })
    const word = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes): Hex => toHex(bytes))
    fc.assert(
      fc.property(
        fc.tuple(
          transactionIds[vmType],
          accounts[vmType],
          accounts[vmType],
          currencies[vmType],
          amounts,
          word,
        ),
        ([transaction, depositor, depository, currency, amount, onchainId]) => {
          const fixed = { onchainId, depositId: orderBId }
          const data = {
            data: { chainId, transactionId: toHex(transaction.bytes) },
            result: {
              ...fixed,
              depository: toHex(depository.bytes),
              depositor: toHex(depositor.bytes),
              currency: toHex(currency.bytes),
              amount,
            },
          }
          const message = {
            data: { chainId, transactionId: transaction.text },
            result: {
              ...fixed,
              depository: depository.text,
              depositor: depositor.text,
              currency: currency.text,
              amount: amount.toString(),
            },
          }
          expect(depositMessageId(message, randomNetworkOf)).toBe(
            hashStruct({ data, primaryType: 'DepositoryDeposit', types }),
          )
        },
      ),
      { numRuns: 30 },
    )
  })

  test('is refused for an unknown chain, a wrong transaction id, a wrong address', () => {
    const { data, result } = ethereumDeposit
    expect(() => depositMessageId({ data: { ...data, chainId: 'nope' }, result }, networkOf)).toThrow(
      UnknownChainError,
    )
    expect(() => depositMessageId({ data: { ...data, transactionId: '0x1' }, result }, networkOf)).toThrow(
      InvalidTransactionIdError,
    )
    const wrong = { data, result: { ...result, depositor: 'x' } }
    expect(() => depositMessageId(wrong, networkOf)).toThrow(InvalidAddressError)
    expect(() => depositMessageId(wrong, networkOf)).toThrow(/^result\.depositor is not/)
  })
})

test.each([
  ['pending', 0, '0x7ebd2b149a4ec3957f9aa0f28443c0b89c49ed3c737ed66b04714dd0deb04138'],
  ['executed', 1, '0x75b177164cfd9aec1208daae96745ef40e58b652a9a3676092a281b17f368493'],
  ['expired', 2, '0x5207c6c6c5664e42a6c9e3455674771caa486a9994c34ccaa125d71b5e0b6334'],
])('a withdrawal that is %s has the published id', (_status, status, id) => {
  expect(withdrawalMessageId(ethereumWithdrawal(withdrawal, status), networkOf)).toBe(id)
})

describe('a fill', () => {
  test.each([
    ['0', '0x4c9c4a84dbef1ebd181ec5ec341c4079fe5ab0e7a8ae0cf0f147cc60d760a30d'],
    ['-10000000000000000', '0xaae8f0e41a3ab2fd54ef1ebcd77b5980fb3c2f549b23342698bc0cfbf402f213'],
  ])('with a difference of %s has the published id', (bpsDiff, id) => {
    expect(fillMessageId(fillOfOrderB(bpsDiff), networkOf)).toBe(id)
  })

  test('names only inputs that the order has', () => {
    const { data, result } = fillOfOrderB('0')
    const inputs = data.inputs.map((entry) => ({ ...entry, inputIndex: 1 }))
    expect(() => fillMessageId({ data: { ...data, inputs }, result }, networkOf)).toThrow(
      expect.objectContaining({
        code: 'UNKNOWN_ORDER_PART',
        message: 'The order has no input 1.',
        data: { inputIndex: 1 },
      }),
    )
  })

  test('takes its transaction id in the spelling of the chain of the output', () => {
    const { data, result } = fillOfOrderB('0')
    const fill = { transactionId: 'cc'.repeat(32) }
    expect(() => fillMessageId({ data: { ...data, fill }, result }, networkOf)).toThrow(
      InvalidTransactionIdError,
    )
  })
})

describe('a refund', () => {
  test('has the published id', () => {
    expect(refundMessageId(refundOfOrderB, networkOf)).toBe(
      '0x9b8bb0ac42a2483045ceb3849a05ea1bfe404bc6473aa5d46290d7283bca43d0',
    )
  })

  test.each([
    [1, 0],
    [0, 1],
  ])('names only refunds that the order has (input %s, refund %s)', (inputIndex, refundIndex) => {
    const { data, result } = refundOfOrderB
    const refunds = data.refunds.map((entry) => ({ ...entry, inputIndex, refundIndex }))
    expect(() => refundMessageId({ data: { ...data, refunds }, result }, networkOf)).toThrow(
      UnknownOrderPartError,
    )
  })
})

const settlementTypes = {
  ...orderTypedData,
  InputEntry: [
    { name: 'transactionId', type: 'bytes' },
    { name: 'onchainId', type: 'bytes32' },
    { name: 'inputIndex', type: 'uint32' },
  ],
  Result: [
    { name: 'orderId', type: 'bytes32' },
    { name: 'status', type: 'uint8' },
    { name: 'totalWeightedInputPaymentBpsDiff', type: 'int256' },
  ],
}
const outerMembers = [
  { name: 'data', type: 'Data' },
  { name: 'result', type: 'Result' },
]
const sharedDataMembers = [
  { name: 'order', type: 'Order' },
  { name: 'orderSignature', type: 'bytes' },
  { name: 'inputs', type: 'InputEntry[]' },
]
const fillTypes = {
  ...settlementTypes,
  SolverFill: outerMembers,
  Data: [...sharedDataMembers, { name: 'fill', type: 'FillEntry' }],
  FillEntry: [{ name: 'transactionId', type: 'bytes' }],
}
const refundTypes = {
  ...settlementTypes,
  SolverRefund: outerMembers,
  Data: [...sharedDataMembers, { name: 'refunds', type: 'RefundEntry[]' }],
  RefundEntry: [
    { name: 'transactionId', type: 'bytes' },
    { name: 'inputIndex', type: 'uint32' },
    { name: 'refundIndex', type: 'uint32' },
  ],
}

test('fills and refunds of random orders have the ids that viem computes', () => {
  const sampleId = (chainId: string): string => {
    const vmType = randomNetworkOf(chainId)?.vmType
    if (vmType === 'solana-vm') return solanaDeposit.data.transactionId
    return vmType === 'ethereum-vm' || vmType === 'hyperliquid-vm' ? repeated('ab', 32) : 'ab'.repeat(32)
  }
  const sampleBytes = (chainId: string): Hex => {
    const vmType = randomNetworkOf(chainId)?.vmType
    if (vmType === undefined) throw new Error('the arbitrary names known chains only')
    return vmType === 'solana-vm'
      ? toHex(codecOf(mainNetwork(vmType)).encodeTransactionId(sampleId(chainId)))
      : repeated('ab', 32)
  }
  const bpsDiffs = fc.bigInt({ min: -(2n ** 200n), max: 2n ** 200n })

  fc.assert(
    fc.property(orders, bpsDiffs, ({ order, message }, bpsDiff) => {
      const onchainId = repeated('0f', 32)
      const result = { orderId: orderBId, status: 1, totalWeightedInputPaymentBpsDiff: bpsDiff.toString() }
      const typedResult = { ...result, totalWeightedInputPaymentBpsDiff: bpsDiff }
      const entry = (chainId: string, inputIndex: number) => ({
        given: { transactionId: sampleId(chainId), onchainId, inputIndex },
        typed: { transactionId: sampleBytes(chainId), onchainId, inputIndex },
      })
      const inputs = order.inputs.map((input, index) => entry(input.payment.chainId, index))
      const refunds = order.inputs.flatMap((input, inputIndex) =>
        input.refunds.map((refund, refundIndex) => ({
          given: { transactionId: sampleId(refund.chainId), inputIndex, refundIndex },
          typed: { transactionId: sampleBytes(refund.chainId), inputIndex, refundIndex },
        })),
      )
      const given = { order, orderSignature: repeated('07', 65), inputs: inputs.map((both) => both.given) }
      const typed = {
        order: message,
        orderSignature: repeated('07', 65),
        inputs: inputs.map((both) => both.typed),
      }

      const fill = { transactionId: sampleId(order.output.chainId) }
      const typedFill = { transactionId: sampleBytes(order.output.chainId) }
      expect(fillMessageId({ data: { ...given, fill }, result }, randomNetworkOf)).toBe(
        hashStruct({
          data: { data: { ...typed, fill: typedFill }, result: typedResult },
          primaryType: 'SolverFill',
          types: fillTypes,
        }),
      )
      const refundData = { ...given, refunds: refunds.map((both) => both.given) }
      expect(refundMessageId({ data: refundData, result }, randomNetworkOf)).toBe(
        hashStruct({
          data: { data: { ...typed, refunds: refunds.map((both) => both.typed) }, result: typedResult },
          primaryType: 'SolverRefund',
          types: refundTypes,
        }),
      )
    }),
    { numRuns: 50 },
  )
})
