// Rules that refunds add to those of fills, P-41 and P-129 among them, with the vector of order B.
import {
  type Order,
  onchainId,
  type PaymentFacts,
  refundedDeposit,
  refundId,
  refundMessageId,
} from '@causeway/core'
import { describe, expect, test } from 'vitest'
import { fillExecution, refundOfOrderB } from '../../../../packages/core/test/vectors/messages.ts'
import { orderB, orderBId, repeated } from '../../../../packages/core/test/vectors/orders.ts'
import { inputsB, refundRequest, signedOrder } from '../../test/fixtures/requests.ts'
import {
  refund as attest,
  depositAt,
  refundEntry as entry,
  leastRefund as minimum,
  options,
  refunded,
  refusalOfRefund as refusal,
  refundOf as withRefund,
  worldOfRefund as worldOf,
} from '../../test/fixtures/settling.ts'
import {
  depositB,
  depositFacts,
  depositor,
  depositTransaction,
  evidence,
  nativeCurrency,
  world,
} from '../../test/fixtures/world.ts'
import { attestRefund } from './refunds.ts'

test('a refund of order B has the published message and settles under the key of its fill', async () => {
  const { unsigned, evidence: seen } = await attest(refundRequest())
  expect(unsigned.message).toEqual({ ...refundOfOrderB, signatures: [] })
  expect(refundMessageId(unsigned.message, worldOf().networkOf)).toBe(
    '0x9b8bb0ac42a2483045ceb3849a05ea1bfe404bc6473aa5d46290d7283bca43d0',
  )
  expect(unsigned.execution).toEqual({
    idempotencyKey: fillExecution.idempotencyKey,
    actions: fillExecution.actions.slice(0, 1),
    signatures: [],
  })
  expect(seen).toHaveLength(2)
})

describe('a refund is refused', () => {
  test.each<[string, object, string]>([
    ['without an entry for an input', { refunds: [] }, 'MISSING_REFUND'],
    ['with a second entry for an input', { refunds: [entry, entry] }, 'INVALID_REFUND'],
    ['for an input that the order lacks', { refunds: [{ ...entry, inputIndex: 1 }] }, 'UNKNOWN_ORDER_PART'],
    ['for a refund that the order lacks', { refunds: [{ ...entry, refundIndex: 1 }] }, 'UNKNOWN_ORDER_PART'],
    ['with a forged signature', { orderSignature: `0x${'11'.repeat(65)}` }, 'INVALID_ORDER_SIGNATURE'],
    ['without its inputs', { inputs: [] }, 'MISSING_INPUT'],
    ['with one onchain id twice', { inputs: [...inputsB, ...inputsB] }, 'DUPLICATE_ONCHAIN_ID'],
  ])('%s', async (_what, change, code) => {
    expect(await refusal(refundRequest(change))).toBe(code)
  })

  test.each<[string, PaymentFacts, string]>([
    ['below its minimum', refunded(minimum - 1n), 'INSUFFICIENT_REFUND'],
    ['after its deadline', refunded(minimum, { blockTimestampSeconds: 2_000_000_001n }), 'DEADLINE_PASSED'],
    [
      'in a transaction of another order',
      refunded(minimum, { referencesOrder: false }),
      'ORDER_NOT_REFERENCED',
    ],
    [
      'to somebody else',
      refunded(0n, {
        transfers: [{ recipient: repeated('12', 20), currency: nativeCurrency, amount: minimum }],
      }),
      'INSUFFICIENT_REFUND',
    ],
    [
      'P-20: by a fill contract that no list names',
      refunded(0n, { unlistedFillContract: repeated('fc', 20) }),
      'FILL_CONTRACT_UNKNOWN',
    ],
  ])('%s', async (_what, payment, code) => {
    expect(await refusal(refundRequest(), { payment })).toBe(code)
  })

  test('of a deposit in another currency', async () => {
    const deposits = depositFacts([{ ...depositB, currency: repeated('0c', 20) }])
    expect(await refusal(refundRequest(), { deposits })).toBe('DEPOSIT_CURRENCY_MISMATCH')
  })
})

describe('the minimum moves with what was deposited', () => {
  test('P-129: an over-payment raises it, and a refund that was not raised fails', async () => {
    const deposits = depositFacts([{ ...depositB, amount: 1_010_000_000_000_000_000n }])
    expect(await refusal(refundRequest(), { deposits })).toBe('INSUFFICIENT_REFUND')
    const payment = refunded(minimum + minimum / 100n)
    expect(await refusal(refundRequest(), { deposits, payment })).toBe('accepted')
  })

  test('P-129: an under-payment lowers it', async () => {
    const deposits = depositFacts([{ ...depositB, amount: 5n * 10n ** 17n }])
    expect(await refusal(refundRequest(), { deposits, payment: refunded(minimum / 2n) })).toBe('accepted')
    expect(await refusal(refundRequest(), { deposits, payment: refunded(minimum / 2n - 1n) })).toBe(
      'INSUFFICIENT_REFUND',
    )
  })
})

test('a refund to another account than the depositor is paid there, and nowhere else', async () => {
  const heir = repeated('45', 20)
  const { request, deposits } = await withRefund({ recipient: heir })
  expect(await refusal(request, { deposits })).toBe('INSUFFICIENT_REFUND')
  const payment = refunded(0n, {
    transfers: [{ recipient: heir, currency: nativeCurrency, amount: minimum }],
  })
  expect(await refusal(request, { deposits, payment })).toBe('accepted')
})

describe('a refund to the name of the native currency', () => {
  test('goes to whoever deposited', async () => {
    const { request, deposits } = await withRefund({ recipient: nativeCurrency })
    expect(await refusal(request, { deposits })).toBe('accepted')
    const elsewhere = refunded(0n, {
      transfers: [{ recipient: nativeCurrency, currency: nativeCurrency, amount: minimum }],
    })
    expect(await refusal(request, { deposits, payment: elsewhere })).toBe('INSUFFICIENT_REFUND')
  })

  test('asks the reader for the depositor', async () => {
    const { request, deposits } = await withRefund({ recipient: nativeCurrency })
    const asked = worldOf({ deposits })
    await attestRefund(request, asked, options)
    const [payment] = asked.asked.filter(({ what }) => what === 'payment')
    expect(payment?.question).toMatchObject({ payments: [{ recipient: depositor }] })
  })

  test('on a chain of another family is refused, because the depositor is nobody there', async () => {
    const { request, deposits } = await withRefund({
      chainId: 'bitcoin',
      recipient: 'bc1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqmql8k8',
      currency: 'bc1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqmql8k8',
    })
    const onBitcoin = { ...request, refunds: [{ ...entry, transactionId: 'dd'.repeat(32) }] }
    expect(await refusal(onBitcoin, { deposits })).toBe('INVALID_ADDRESS')
  })
})

test('P-41: a record pays the refund of its own deposit, and of no other', async () => {
  const { chainId, transactionId } = { chainId: 1, transactionId: depositTransaction }
  const own = refundId(orderBId, refundedDeposit(depositB, { chainId, transactionId, deposits: [depositB] }))
  expect(await refusal(refundRequest(), { payment: refunded(minimum, { recordId: own }) })).toBe('accepted')
  for (const recordId of [orderBId, refundId(orderBId, { ...depositB, chainId, transactionId, ordinal: 1 })])
    expect(await refusal(refundRequest(), { payment: refunded(minimum, { recordId }) })).toBe(
      'INSUFFICIENT_REFUND',
    )
})

test('one transfer does not serve the refunds of two inputs', async () => {
  const [input] = orderB.inputs
  // CAST: order B with its input twice.
  const order = { ...orderB, inputs: [input, input] } as Order
  const { id, orderSignature } = await signedOrder(order)
  const deposits = depositFacts([
    { ...depositB, depositId: id },
    { ...depositB, depositId: id, onchainIndex: '8' },
  ])
  const entries = ['7', '8'].map((onchainIndex, inputIndex) => ({
    transactionId: depositTransaction,
    onchainId: depositAt(onchainIndex),
    inputIndex,
  }))
  const refunds = [entry, { ...entry, inputIndex: 1 }]
  const request = refundRequest({ order, orderSignature, inputs: entries, refunds })
  expect(await refusal(request, { deposits, payment: refunded(minimum) })).toBe('INSUFFICIENT_REFUND')
  expect(await refusal(request, { deposits, payment: refunded(2n * minimum) })).toBe('accepted')
})

describe('force', () => {
  const forced = (change: object = {}) => refundRequest({ force: true, orderSignature: '0x', ...change })

  test('settles by the deposits alone and pays no fees', async () => {
    const { unsigned } = await attest(forced(), { payment: refunded(0n) })
    expect(unsigned.message.result.totalWeightedInputPaymentBpsDiff).toBe('0')
    expect(unsigned.execution.actions).toEqual(fillExecution.actions.slice(0, 1))
  })

  test('finds a deposit that happened on another chain than the order says', async () => {
    const { id, orderSignature } = await signedOrder(orderB)
    const facts = depositFacts([{ ...depositB, depositId: id }], { evidence: evidence('base') })
    const inputs = [
      {
        ...inputsB[0],
        chainId: 'base',
        onchainId: onchainId({ chainId: 'base', transactionId: depositTransaction, onchainIndex: '7' }),
      },
    ]
    const onBase = world({ base: { deposits: { [depositTransaction]: facts } } })
    const { unsigned } = await attestRefund(forced({ orderSignature, inputs }), onBase, options)
    expect(unsigned.execution.actions).toHaveLength(1)
    expect(unsigned.message.data.inputs[0]).not.toHaveProperty('chainId')
  })

  test('without it another chain is not looked at', async () => {
    const inputs = [{ ...inputsB[0], chainId: 'base' }]
    expect(await refusal(refundRequest({ inputs }))).toBe('accepted')
  })
})
