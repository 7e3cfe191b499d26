// Vectors of message ids, rule P-128, and what an id refuses, by the name of what is wrong.
import { describe, expect, test } from 'vitest'
import {
  ethereumDeposit,
  ethereumDepositId,
  ethereumWithdrawal,
  fillOfOrderB,
  refundOfOrderB,
} from '../../test/vectors/messages.ts'
import { networkOf } from '../../test/vectors/orders.ts'
import { createChainHasher } from '../chain/protocolChain.ts'
import { depositMessageId, withdrawalMessageId } from './chainMessageIds.ts'
import { fillMessageId, refundMessageId } from './settlementMessageIds.ts'

describe('the id of a chain’s message', () => {
  test('P-128: of a deposit is the published one', () => {
    expect(depositMessageId(ethereumDeposit, networkOf)).toBe(ethereumDepositId)
  })

  test.each(['depository', 'depositor', 'currency'] as const)('names a wrong %s', (name) => {
    const deposit = { ...ethereumDeposit, result: { ...ethereumDeposit.result, [name]: 'nobody' } }
    expect(() => depositMessageId(deposit, networkOf)).toThrow(`result.${name} is not`)
  })

  test('of a withdrawal names a wrong depository, and tells statuses apart', () => {
    const withdrawal = ethereumWithdrawal('0x12', 1)
    const wrong = { ...withdrawal, result: { ...withdrawal.result, depository: 'nobody' } }
    expect(() => withdrawalMessageId(wrong, networkOf)).toThrow('result.depository is not')
    const ids = [0, 1, 2].map((status) => withdrawalMessageId(ethereumWithdrawal('0x12', status), networkOf))
    expect(new Set(ids).size).toBe(3)
  })
})

describe('the id of a settlement’s message', () => {
  const fill = fillOfOrderB('0')

  test('is of an order’s own inputs and refunds alone', () => {
    const inputs = fill.data.inputs.map((entry) => ({ ...entry, inputIndex: 1 }))
    const refused = { code: 'UNKNOWN_ORDER_PART', kind: 'invalid_request' }
    expect(() => fillMessageId({ ...fill, data: { ...fill.data, inputs } }, networkOf)).toThrow(
      expect.objectContaining({ ...refused, message: 'The order has no input 1.', data: { inputIndex: 1 } }),
    )
    const refundsOf = (inputIndex: number, refundIndex: number) =>
      refundOfOrderB.data.refunds.map((entry) => ({ ...entry, inputIndex, refundIndex }))
    for (const [inputIndex, refundIndex] of [
      [0, 1],
      [1, 0],
    ] as const) {
      const data = { ...refundOfOrderB.data, refunds: refundsOf(inputIndex, refundIndex) }
      expect(() => refundMessageId({ ...refundOfOrderB, data }, networkOf)).toThrow(
        expect.objectContaining({
          ...refused,
          message: `The order has no refund ${refundIndex} of input ${inputIndex}.`,
          data: { inputIndex, refundIndex },
        }),
      )
    }
  })

  test('P-128: says all of it: order, signature, entries, status and difference', () => {
    const changed = [
      fill,
      fillOfOrderB('-1'),
      { ...fill, result: { ...fill.result, status: 2 } },
      { ...fill, data: { ...fill.data, orderSignature: '0x12' as const } },
      { ...fill, data: { ...fill.data, inputs: [] } },
      { ...fill, data: { ...fill.data, fill: { transactionId: `0x${'ce'.repeat(32)}` } } },
    ]
    expect(new Set(changed.map((message) => fillMessageId(message, networkOf))).size).toBe(changed.length)
    expect(refundMessageId(refundOfOrderB, networkOf)).not.toBe(fillMessageId(fill, networkOf))
  })
})

test('a chain is looked up once for all that is hashed', () => {
  let lookups = 0
  const chains = createChainHasher((chainId) => {
    lookups += 1
    return networkOf(chainId)
  })
  expect(chains('ethereum')).toBe(chains('ethereum'))
  expect(lookups).toBe(1)
})
