// The questions that fills and refunds put to the readers of chains.
import { describe, expect, test } from 'vitest'
import { orderB, orderBId } from '../../../../../packages/core/test/vectors/orders.ts'
import { fillRequest, refundRequest } from '../../../test/fixtures/requests.ts'
import { options, refundEntry, worldOfFill, worldOfRefund } from '../../../test/fixtures/settling.ts'
import {
  depositor,
  depositTransaction,
  fillTransaction,
  nativeCurrency,
  refundTransaction,
  type World,
} from '../../../test/fixtures/world.ts'
import { attestFill } from '../fills.ts'
import { attestRefund } from '../refunds.ts'

const hintOf = (timestamp: number) => ({ 'hyperliquid-vm': { user: 'somebody', timestamp } })

async function askedByFill(change: object = {}) {
  const asked = worldOfFill()
  await attestFill(fillRequest(change), asked, options)
  return asked
}

async function askedByRefund(change: object = {}) {
  const asked = worldOfRefund()
  await attestRefund(refundRequest(change), asked, options)
  return asked
}

const questionOf = ({ asked }: World, what: string) => asked.find((question) => question.what === what)

describe('a fill', () => {
  test('asks the chain of each input for its deposits', async () => {
    const deposits = questionOf(await askedByFill(), 'deposits')
    expect(deposits).toEqual({
      chainId: 'ethereum',
      what: 'deposits',
      question: { transactionId: depositTransaction },
    })
  })

  test('asks the chain of the output for all that the order pays and calls there', async () => {
    const { extraData, payments, calls } = orderB.output
    expect(questionOf(await askedByFill(), 'payment')).toStrictEqual({
      chainId: 'base',
      what: 'payment',
      question: { transactionId: fillTransaction, orderId: orderBId, extraData, payments, calls },
    })
  })

  test('hands on where the caller says to look first', async () => {
    const asked = await askedByFill({ hints: hintOf(1) })
    expect(questionOf(asked, 'payment')?.question).toMatchObject({ hints: hintOf(1) })
  })
})

describe('a refund', () => {
  test('asks the chain of the offer for the one payment of that offer, and for no calls', async () => {
    expect(questionOf(await askedByRefund(), 'payment')).toStrictEqual({
      chainId: 'ethereum',
      what: 'payment',
      question: {
        transactionId: refundTransaction,
        orderId: orderBId,
        extraData: '0x',
        payments: [{ recipient: depositor, currency: nativeCurrency }],
      },
    })
  })

  test.each([
    ['of all refunds', { hints: hintOf(1) }, 1],
    ['of its own', { refunds: [{ ...refundEntry, hints: hintOf(2) }] }, 2],
    [
      'of its own before those of all',
      { hints: hintOf(1), refunds: [{ ...refundEntry, hints: hintOf(2) }] },
      2,
    ],
  ])('hands on the hints %s', async (_whose, change, timestamp) => {
    const asked = await askedByRefund(change)
    expect(questionOf(asked, 'payment')?.question).toMatchObject({ hints: hintOf(timestamp) })
  })
})
