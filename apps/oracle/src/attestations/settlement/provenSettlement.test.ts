// The payments on which a fill or a refund rests, by which the oracle sees that one payment settles one set of deposits.
import { describe, expect, test } from 'vitest'
import { orderBId } from '../../../../../packages/core/test/vectors/orders.ts'
import { fillRequest, refundRequest } from '../../../test/fixtures/requests.ts'
import { fill, refund, refunded } from '../../../test/fixtures/settling.ts'
import { depositB, depositFacts, fillTransaction, refundTransaction } from '../../../test/fixtures/world.ts'

/** Order B asks for this, which also stands for the whole in `worth`. */
const whole = 10n ** 18n

test('a fill rests on the one fill of its order, and on its transaction', async () => {
  const { settlement, isFinal } = await fill(fillRequest())
  expect(settlement).toEqual({
    orderId: orderBId,
    worth: whole,
    payments: ['fill', `base ${fillTransaction}`],
  })
  expect(isFinal).toBe(true)
})

test('a refund rests on its transaction, so that it does not hinder the refund of another deposit', async () => {
  const { settlement, isFinal } = await refund(refundRequest())
  expect(settlement).toEqual({
    orderId: orderBId,
    worth: whole,
    payments: [`ethereum ${refundTransaction}`],
  })
  expect(isFinal).toBe(true)
})

describe('a settlement is worth the part of the order that was deposited', () => {
  test.each([
    ['nothing', 0n, 0n],
    ['the smallest unit', 1n, 1n],
    ['a quarter', whole / 4n, whole / 4n],
    ['all but the smallest unit', whole - 1n, whole - 1n],
    ['all', whole, whole],
    ['twice as much, which counts as all', 2n * whole, whole],
  ])('%s', async (_part, amount, worth) => {
    const deposits = depositFacts([{ ...depositB, amount }])
    expect((await fill(fillRequest(), { deposits })).settlement?.worth).toBe(worth)
    const payment = refunded(2n * whole)
    expect((await refund(refundRequest(), { deposits, payment })).settlement?.worth).toBe(worth)
  })
})

test('by force nothing was paid: the settlement rests on no payment, and is as final', async () => {
  const forced = { force: true, orderSignature: '0x' }
  for (const attested of [await fill(fillRequest(forced)), await refund(refundRequest(forced))]) {
    expect(attested).not.toHaveProperty('settlement')
    expect(attested.isFinal).toBe(true)
    expect(attested.evidence).toHaveLength(1)
  }
})
