import {
  canonicalJson,
  type InputEntry,
  type NetworkOf,
  type Order,
  settlementExecutionKey,
} from '@causeway/core'
import {
  canonicalId,
  chainOf,
  type IsAbout,
  list,
  member,
  noOrder,
  type Request,
  text,
} from './requestMembers.ts'
import type { FillsResponse, RefundsResponse } from './schemas.ts'
import { lowerCase } from './signatureEntries.ts'

/**
 * The functions of this file are true if a peer's normalised response is about the fill or refund that a
 * request asks for. See `isAboutDeposits`. With `force` the execution settles all deposits of the requested
 * transactions that name the order, however many; without it one deposit per input. A held answer has
 * `executionHeld` in place of the execution.
 * @source rule P-91
 */
export const isAboutFill: IsAbout<FillsResponse> = (response, request, networkOf) => {
  const { message, execution } = response
  const { order, fill } = message.data
  const requestedId = canonicalId(
    chainOf(order.output.chainId, networkOf),
    member(request['fill'], 'transactionId'),
  )
  if (fill.transactionId !== requestedId || !isAboutOrder(response, request, networkOf)) return false
  if (request['force'] === true || execution === undefined) return true
  // One transfer to the solver per input, one to the recipient per fee.
  return execution.actions.length === order.inputs.length + order.fees.length
}

export const isAboutRefund: IsAbout<RefundsResponse> = (response, request, networkOf) => {
  const { message, execution } = response
  const { order, refunds } = message.data
  const requestedRefunds = list(request['refunds'])
  const areRequestedRefunds = refunds.every((entry, index) => {
    // An entry that names no refund of the order has no chain: `chainOf` then throws, which counts as false.
    const chainId = order.inputs[entry.inputIndex]?.refunds[entry.refundIndex]?.chainId ?? ''
    const transactionId = canonicalId(
      chainOf(chainId, networkOf),
      member(requestedRefunds[index], 'transactionId'),
    )
    const { inputIndex, refundIndex } = entry
    return (
      entry.transactionId === transactionId &&
      inputIndex === member(requestedRefunds[index], 'inputIndex') &&
      refundIndex === member(requestedRefunds[index], 'refundIndex')
    )
  })
  if (refunds.length !== requestedRefunds.length || !areRequestedRefunds) return false
  if (!isAboutOrder(response, request, networkOf)) return false
  // One transfer to the solver per input, as for a fill; a refund pays no fees.
  if (request['force'] === true || execution === undefined) return true
  return execution.actions.length === order.inputs.length
}

/** Checks common to a fill and a refund: the order, its deposits, and the one idempotency key of both. */
function isAboutOrder(
  { message, execution, executionHeld }: FillsResponse | RefundsResponse,
  request: Request,
  networkOf: NetworkOf,
): boolean {
  const { order, orderSignature, inputs } = message.data
  // The message's signature covers both the order and this id, so the order is not hashed again here.
  const { orderId } = message.result
  const isRequestedOrder =
    canonicalJson(order) === canonicalJson(request['order']) &&
    orderSignature.toLowerCase() === text(request['orderSignature']).toLowerCase()
  if (!isRequestedOrder || !areRequestedInputs(order, inputs, list(request['inputs']), networkOf))
    return false
  if (execution === undefined) return executionHeld !== undefined
  // The key of a forced execution is made of all these deposits, of which entries need not name each.
  if (request['force'] === true) return true
  // An input without an entry counts as zero. No oracle signs a key with that, so the keys then differ.
  const onchainIds = order.inputs.map(
    (_input, index) => inputs.find(({ inputIndex }) => inputIndex === index)?.onchainId ?? noOrder,
  )
  return execution.idempotencyKey === settlementExecutionKey({ onchainIds, orderId })
}

function areRequestedInputs(
  order: Order,
  inputs: readonly InputEntry[],
  requestedInputs: readonly unknown[],
  networkOf: NetworkOf,
): boolean {
  if (inputs.length !== requestedInputs.length) return false
  return inputs.every(({ transactionId, onchainId, inputIndex }, index) => {
    const entry = requestedInputs[index]
    // A forced refund may name a deposit on another chain than the order's input.
    const chainId = member(entry, 'chainId') ?? order.inputs[inputIndex]?.payment.chainId
    return (
      inputIndex === member(entry, 'inputIndex') &&
      lowerCase(onchainId) === text(member(entry, 'onchainId')).toLowerCase() &&
      transactionId === canonicalId(chainOf(text(chainId), networkOf), member(entry, 'transactionId'))
    )
  })
}
