// The facts that a refused fill or refund tells, from which a caller sees what to mend (rule P-90).
import { encodeOrderCall, type PaymentFacts } from '@causeway/core'
import { describe, expect, test } from 'vitest'
import { orderBId, repeated } from '../../../../../packages/core/test/vectors/orders.ts'
import { fillRequest, inputsB, refundRequest } from '../../../test/fixtures/requests.ts'
import {
  type Found,
  fill,
  fillOf,
  refund,
  refundEntry,
  refunded,
  withOutput,
} from '../../../test/fixtures/settling.ts'
import { depositB, depositFacts, paymentFacts, recipient, usdc } from '../../../test/fixtures/world.ts'

const stranger = repeated('0e', 32)
const paid = (change: object) =>
  paymentFacts({ transfers: [{ recipient, currency: usdc, amount: 7n, ...change }] })

describe('a fill tells', () => {
  const secondEntry = { ...inputsB[0], onchainId: stranger }
  const inputZero = { inputIndex: 0 }

  test.each<[string, object, Found, string, object]>([
    [
      'which input the order lacks',
      { inputs: [{ ...inputsB[0], inputIndex: 1 }] },
      {},
      'UNKNOWN_ORDER_PART',
      { inputIndex: 1 },
    ],
    ['which input has no entry', { inputs: [] }, {}, 'MISSING_INPUT', inputZero],
    ['which input has two entries', { inputs: [...inputsB, secondEntry] }, {}, 'INVALID_INPUT', inputZero],
    ['which input names no deposit', { inputs: [secondEntry] }, {}, 'INVALID_INPUT', inputZero],
    [
      'which input names no deposit, by force',
      { inputs: [secondEntry], force: true },
      {},
      'INVALID_INPUT',
      inputZero,
    ],
    [
      'which input is in another currency',
      {},
      { deposits: depositFacts([{ ...depositB, currency: usdc }]) },
      'DEPOSIT_CURRENCY_MISMATCH',
      inputZero,
    ],
    [
      'which payment came after which deadline',
      {},
      { payment: paymentFacts({ blockTimestampSeconds: 2_000_000_001n }) },
      'DEADLINE_PASSED',
      { paymentIndex: 0, deadline: '2000000000' },
    ],
    [
      'which payment stands in a transaction of another order',
      {},
      { payment: paymentFacts({ referencesOrder: false }) },
      'ORDER_NOT_REFERENCED',
      { paymentIndex: 0 },
    ],
    [
      'how much was paid, and how much was due',
      {},
      { payment: paid({}) },
      'INSUFFICIENT_FILL',
      { paymentIndex: 0, paidAmount: '7', minimumAmount: '3000000000' },
    ],
    [
      'how much came from the solver, where others paid the rest',
      {},
      { payment: paid({ fromOthers: 3_000_000_000n }) },
      'PAYER_NOT_LISTED',
      { paymentIndex: 0, paidAmount: '7', minimumAmount: '3000000000' },
    ],
  ])('%s', async (_what, change, found, code, data) => {
    await expect(fill(fillRequest(change), found)).rejects.toMatchObject({ code, data })
  })

  test('that nothing counts where the record of a fill contract proves nothing, and why', async () => {
    const told = async (change: Partial<PaymentFacts>) => {
      await expect(fill(fillRequest(), { payment: paymentFacts(change) })).rejects.toMatchObject({
        code: 'INSUFFICIENT_FILL',
        data: { paymentIndex: 0, paidAmount: '0', minimumAmount: '3000000000' },
        message: expect.stringContaining(
          change.recordProblem === undefined ? `${stranger} instead of ${orderBId}` : 'does not ask for',
        ),
      })
    }
    await told({ recordId: stranger })
    await told({ recordId: stranger, recordProblem: 'other_payments' })
  })

  test('which call is missing, also behind a fill contract that no list names', async () => {
    const call = (value: bigint) => ({ to: repeated('ca', 20), data: '0x', value }) as const
    const order = withOutput({ calls: [encodeOrderCall(call(1n)), encodeOrderCall(call(2n))] })
    const { request, deposits } = await fillOf(order)
    const payment = paymentFacts({ calls: [call(1n)] })
    const data = { callIndex: 1 }
    await expect(fill(request, { deposits, payment })).rejects.toMatchObject({ code: 'MISSING_CALLS', data })
    const unlisted = { ...payment, unlistedFillContract: repeated('fc', 20) }
    await expect(fill(request, { deposits, payment: unlisted })).rejects.toMatchObject({
      code: 'FILL_CONTRACT_UNKNOWN',
      data,
    })
  })
})

describe('a refund tells', () => {
  test.each<[string, object, Found, string, object]>([
    [
      'which refund the order does not offer',
      { refunds: [{ ...refundEntry, refundIndex: 1 }] },
      {},
      'UNKNOWN_ORDER_PART',
      { inputIndex: 0, refundIndex: 1 },
    ],
    ['which input is not refunded', { refunds: [] }, {}, 'MISSING_REFUND', { inputIndex: 0 }],
    [
      'which input is refunded twice',
      { refunds: [refundEntry, refundEntry] },
      {},
      'INVALID_REFUND',
      { inputIndex: 0 },
    ],
    [
      'how much was paid back, and how much was due',
      {},
      { payment: refunded(7n) },
      'INSUFFICIENT_REFUND',
      { paymentIndex: 0, paidAmount: '7', minimumAmount: '990000000000000000' },
    ],
  ])('%s', async (_what, change, found, code, data) => {
    await expect(refund(refundRequest(change), found)).rejects.toMatchObject({ code, data })
  })
})
