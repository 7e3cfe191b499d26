import type { FillsResponse } from '@causeway/attestations'
import { firstMissingCall, type Hex, orderId as hashOrder, type PaymentFacts } from '@causeway/core'
import { codecOf } from '@causeway/core/encodings'
import type { FillsRequest } from '../wire/requests.ts'
import {
  type Attest,
  type AttestationContext,
  type AttestedChain,
  chainOf,
  type WithExecution,
} from './context.ts'
import { AttestationError } from './errors.ts'
import { settlementExecution } from './settlement/execution.ts'
import {
  entryPerInput,
  evidenceOf,
  forcedDeposits,
  inputsFirst,
  matchInputs,
  nameInputs,
  readInputs,
  signedEntries,
  weightedBpsDiff,
  worthOf,
} from './settlement/orderInputs.ts'
import { checkOrderSignature } from './settlement/orderSignature.ts'
import { checkPayments, paymentName, theFill, unknownFillContract } from './settlement/payments.ts'

type Order = FillsRequest['order']

/**
 * POST /attestations/solver-fills/v1: attests that a solver paid an order's outputs; the execution gives it the order's
 * deposits on the hub. With `force` the payments are not read, and all deposits that name the order are given.
 * @source rules P-129, P-130
 */
export const attestFill: Attest<FillsRequest, WithExecution<FillsResponse>> = async (
  request,
  context,
  options,
) => {
  const { order, orderSignature } = request
  const orderId = hashOrder(order, context.networkOf)
  const inputEntries = nameInputs(request, context)
  const outputChain = chainOf(context, order.output.chainId)
  const transactionId = codecOf(outputChain).canonicalTransactionId(request.fill.transactionId)
  const message = (bpsDiff: bigint): FillsResponse['message'] => ({
    data: { order, orderSignature, inputs: signedEntries(inputEntries), fill: { transactionId } },
    result: { orderId, status: 1, totalWeightedInputPaymentBpsDiff: bpsDiff.toString() },
    signatures: [],
  })

  if (request.force === true) {
    const facts = await readInputs(inputEntries, context, options)
    const deposits = forcedDeposits({ inputs: inputEntries, facts, orderId })
    const execution = settlementExecution({ order, orderId, deposits, context, paysFees: true })
    return { unsigned: { message: message(0n), execution }, evidence: evidenceOf(facts), isFinal: true }
  }

  checkOrderSignature({ solver: order.solver, orderId, signature: orderSignature }, context)
  const inputs = entryPerInput(inputEntries, order, 'MISSING_INPUT')
  const readingInputs = readInputs(inputs, context, options)
  const [deposits, fillFacts] = await inputsFirst(
    readingInputs.then((facts) => matchInputs({ inputs, facts, order, orderId })),
    readFill({ request, orderId, transactionId, outputChain, context }, options),
  )
  const bpsDiff = weightedBpsDiff(order, deposits)
  checkPayments(
    demandedPayments({ order, orderId, chain: outputChain, facts: fillFacts }),
    'INSUFFICIENT_FILL',
  )
  checkCalls(order.output.calls, fillFacts, outputChain)
  const execution = settlementExecution({ order, orderId, deposits, context, paysFees: true })
  return {
    unsigned: { message: message(bpsDiff), execution },
    evidence: evidenceOf([...(await readingInputs), fillFacts]),
    isFinal: true,
    settlement: {
      orderId,
      worth: worthOf(bpsDiff),
      payments: [theFill, paymentName(outputChain.id, fillFacts)],
    },
  }
}

type FillReading = {
  readonly request: FillsRequest
  readonly orderId: `0x${string}`
  readonly transactionId: string
  readonly outputChain: AttestedChain
  readonly context: Pick<AttestationContext, 'readerOf'>
}

/** Reads the fill's transaction once for all payments of the order. */
async function readFill(
  { request, orderId, transactionId, outputChain, context }: FillReading,
  options: { readonly signal: AbortSignal },
): Promise<PaymentFacts> {
  const { extraData, payments, calls } = request.order.output
  const hints = request.hints === undefined ? {} : { hints: request.hints }
  const question = { transactionId, orderId, extraData, payments, calls, ...hints }
  return context.readerOf(outputChain.id).readPayment(question, options)
}

function demandedPayments({
  order: { output },
  orderId,
  chain,
  facts,
}: {
  readonly order: Order
  readonly orderId: Hex
  readonly chain: AttestedChain
  readonly facts: PaymentFacts
}) {
  return output.payments.map(({ recipient, currency, minimumAmount }, index) => ({
    index,
    chain,
    recordId: orderId,
    recipient,
    currency,
    minimumAmount: BigInt(minimumAmount),
    deadlineSeconds: BigInt(output.deadline),
    facts,
  }))
}

/**
 * Checks that every call of the order was executed, in the order's sequence; other calls may stand between.
 * @throws AttestationError
 * @source rule P-41
 */
function checkCalls(calls: readonly Hex[], facts: PaymentFacts, chain: AttestedChain): void {
  if (calls.length === 0) return
  if (facts.calls === undefined) {
    throw new AttestationError('CALLS_NOT_SUPPORTED', `Calls are not supported on ${chain.vmType}.`)
  }
  const missing = firstMissingCall(calls, facts.calls)
  if (missing === undefined) return
  if (facts.unlistedFillContract !== undefined)
    throw unknownFillContract(facts, chain, { callIndex: missing })
  throw new AttestationError('MISSING_CALLS', `Call ${missing} of the order was not executed in its turn.`, {
    data: { callIndex: missing },
  })
}
