import { describe, expect, test } from 'vitest'
import { orderA, orderB, orderC, orderOfQuote } from '../../test/vectors/orders.ts'
import { orderListMax, orderSchema } from './orderSchema.ts'

const [inputB] = orderB.inputs
const [feeB] = orderB.fees
const [paymentB] = orderB.output.payments
if (inputB === undefined || feeB === undefined || paymentB === undefined) throw new Error('order B is full')
const [refundB] = inputB.refunds

/** Order B with one value replaced, by a path like `output.payments.0.minimumAmount`. */
function withValue(path: string, value: unknown): unknown {
  const copy: unknown = JSON.parse(JSON.stringify(orderB))
  const keys = path.split('.')
  const last = keys.pop() ?? ''
  // CAST: walks plain JSON by paths that the tests below spell out.
  const parent = keys.reduce((node, key) => (node as Record<string, unknown>)[key], copy) as Record<
    string,
    unknown
  >
  parent[last] = value
  return copy
}

test.each([orderA, orderB, orderC, orderOfQuote])('accepts the published order %#', (order) => {
  expect(orderSchema.parse(order)).toEqual(order)
})

test('drops unknown fields at every level', () => {
  const extended = { ...orderB, force: true, output: { ...orderB.output, note: 'x' } }
  expect(orderSchema.parse(extended)).toEqual(orderB)
})

describe('accepts at the limit', () => {
  test.each<[string, unknown]>([
    ['inputs', Array(orderListMax).fill(inputB)],
    ['inputs.0.refunds', Array(orderListMax).fill(refundB)],
    ['inputs.0.refunds', []],
    ['output.payments', Array(orderListMax).fill(paymentB)],
    ['output.calls', Array(orderListMax).fill('0x')],
    ['output.calls', [`0x${'ab'.repeat(16_384)}`]],
    ['output.extraData', `0x${'ab'.repeat(1_024)}`],
    ['output.deadline', 0xffff_ffff],
    ['fees', Array(orderListMax).fill(feeB)],
    ['fees.0.amount', (2n ** 256n - 1n).toString()],
    ['salt', `0x${'F'.repeat(64)}`],
  ])('%s', (path, value) => {
    expect(orderSchema.safeParse(withValue(path, value)).success).toBe(true)
  })
})

describe('refuses', () => {
  test.each<[string, unknown]>([
    ['version', 'v2'],
    ['solverChainId', 'a'.repeat(65)],
    ['solverChainId', 'Base'],
    ['solver', '0x1234'],
    ['solver', 'TXtEs6t2oUWQsNos7m68gbHdE9Q5n6x2oN'],
    ['salt', '-1'],
    ['salt', ''],
    ['salt', '0x'],
    ['salt', `0x${'f'.repeat(65)}`],
    ['salt', (2n ** 256n).toString()],
    ['salt', 1],
    ['inputs', []],
    ['inputs', Array(orderListMax + 1).fill(inputB)],
    ['inputs', {}],
    ['inputs.0.payment.amount', '1.5'],
    ['inputs.0.payment.amount', 100],
    ['inputs.0.payment.amount', ' 1'],
    ['inputs.0.payment.weight', '9'.repeat(79)],
    ['inputs.0.payment.currency', ''],
    ['inputs.0.payment.currency', 'x'.repeat(129)],
    ['inputs.0.refunds', Array(orderListMax + 1).fill(refundB)],
    ['inputs.0.refunds.0.deadline', 2 ** 32],
    ['inputs.0.refunds.0.deadline', -1],
    ['inputs.0.refunds.0.deadline', 1.5],
    ['inputs.0.refunds.0.deadline', '2000000000'],
    ['inputs.0.refunds.0.extraData', '0x1'],
    ['inputs.0.refunds.0.extraData', ''],
    ['output', null],
    ['output.payments', Array(orderListMax + 1).fill(paymentB)],
    ['output.payments.0.recipient', undefined],
    ['output.calls', Array(orderListMax + 1).fill('0x')],
    ['output.calls', [`0x${'ab'.repeat(16_385)}`]],
    ['output.calls', ['1234']],
    ['output.extraData', `0x${'ab'.repeat(1_025)}`],
    ['fees', Array(orderListMax + 1).fill(feeB)],
    ['fees.0.amount', '0x10'],
  ])('%s = %j', (path, value) => {
    expect(orderSchema.safeParse(withValue(path, value)).success).toBe(false)
  })
})
