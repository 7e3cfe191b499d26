// Goal: a fill or refund of one order and its deposits is no answer for another. Attack: a true answer with one member of
// something else. Method: the samples of order B, changed one member at a time.
import { settlementExecutionKey } from '@causeway/core'
import { describe, expect, test } from 'vitest'
import { networkOf, repeated } from '../../../core/test/vectors/orders.ts'
import { sampleResponses } from '../../test/vectors/responses.ts'
import type { AttestationKind } from './attestationKind.ts'
import { attestationKinds } from './kinds.ts'

function ask<Response>(kind: AttestationKind<Response>, response: unknown, request: object): boolean {
  return kind.isAbout(kind.responseSchema.parse(response), { ...request }, networkOf)
}
const { fills, refunds } = sampleResponses
const refund = {
  ...refunds,
  execution: { ...refunds.execution, actions: refunds.execution.actions.slice(0, 1) },
}
const kinds = [
  ['fill', attestationKinds.fills, fills],
  ['refund', attestationKinds.refunds, refund],
] as const

describe.each(kinds)('P-91: a %s', (_name, kind, response) => {
  const request = response.message.data
  // CAST: each kind is used with its own responses alone.
  const about = (answer: object, change: object = {}) =>
    ask(kind as AttestationKind<unknown>, answer, { ...request, ...change })
  const { message, execution } = response
  const [input] = request.inputs

  test('is about its own request', () => {
    expect(about(response)).toBe(true)
    expect(about(response, { inputs: [{ ...input, chainId: 'ethereum' }] })).toBe(true)
    const upper = `0x${String(input?.onchainId).slice(2).toUpperCase()}`
    expect(about(response, { inputs: [{ ...input, onchainId: upper }] })).toBe(true)
  })

  test.each([
    ['inputIndex', 1],
    ['onchainId', repeated('22', 32)],
    ['transactionId', repeated('ab', 32)],
    ['chainId', 'unheard'],
  ])('has the inputs that were asked for: not another %s', (name, value) => {
    expect(about(response, { inputs: [{ ...input, [name]: value }] })).toBe(false)
  })

  test('has as many inputs, and those of objects', () => {
    for (const inputs of [[], [input, input], [null], ['x'], undefined])
      expect(about(response, { inputs })).toBe(false)
  })

  test('has its execution, or says why not; a forced one is of more deposits', () => {
    expect(about({ message, executionHeld: 'SIGNING_CAP' })).toBe(true)
    expect(about({ message })).toBe(false)
    expect(about({ message }, { force: true })).toBe(false)
    const more = {
      ...execution,
      actions: [...execution.actions, ...execution.actions],
      idempotencyKey: repeated('22', 32),
    }
    expect(about({ message, execution: more })).toBe(false)
    expect(about({ message, execution: more }, { force: true })).toBe(true)
    const actions = [...execution.actions, ...execution.actions]
    expect(about({ message, execution: { ...execution, actions } })).toBe(false)
  })

  test('has the key of a deposit for each input, and nothing for an input without one', () => {
    const none = { ...message, data: { ...message.data, inputs: [] } }
    const key = settlementExecutionKey({
      onchainIds: [`0x${'0'.repeat(64)}`],
      orderId: message.result.orderId,
    })
    expect(about({ message: none, execution: { ...execution, idempotencyKey: key } }, { inputs: [] })).toBe(
      true,
    )
    expect(about({ message: none, execution }, { inputs: [] })).toBe(false)
  })
})

test('P-91: a refund has as many refunds, each of its own place', () => {
  const { refunds: kind } = attestationKinds
  const request = refund.message.data
  const [first] = request.refunds
  for (const asked of [[], [first, first], [{ ...first, inputIndex: 1 }], [null], undefined])
    expect(ask(kind, refund, { ...request, refunds: asked })).toBe(false)
  const none = { ...refund, message: { ...refund.message, data: { ...request, refunds: [] } } }
  expect(ask(kind, none, request)).toBe(false)
})

test('P-91: a fill is of the transaction that was asked for', () => {
  const { fills: kind } = attestationKinds
  const request = fills.message.data
  for (const fill of [{ transactionId: repeated('ab', 32) }, {}, null, 'x'])
    expect(ask(kind, fills, { ...request, fill })).toBe(false)
})
