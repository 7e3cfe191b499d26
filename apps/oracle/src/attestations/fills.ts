import type { FillsResponse } from '@causeway/attestations'
import {
  firstMissingCall,
  type Hex,
  orderId as hashOrder,
  type PaymentFacts,
  type ReadOptions,
} from '@causeway/core'
import { codecOf } from '@causeway/core/encodings'
import type { FillsRequest } from '../wire/requests.ts'
import {
  type Attest,
  type AttestationContext,
  type Attested,
  type AttestedChain,
  chainOf,
  type WithExecution,
} from './context.ts'
import { AttestationError } from './errors.ts'
import { settlementExecution } from './settlement/execution.ts'
import {
  awaitInputsFirst,
  entryPerInput,
  evidenceOf,
  forcedDeposits,
  matchInputs,
  type NamedInput,
  nameInputs,
  readInputs,
  signedEntries,
  weightedBpsDiff,
  worthOf,
} from './settlement/orderInputs.ts'
import { checkOrderSignature } from './settlement/orderSignature.ts'
import { checkPayments, fillPaymentName, paymentName, unknownFillContract } from './settlement/payments.ts'

/**
 * POST /attestations/solver-fills/v1: attests that a solver paid an order's outputs; the execution gives it
 * the order's deposits on the hub. It checks the order's signature, then the deposits, then the payments and
 * calls. With `force`, which the route allows to operators' keys alone, neither the order's signature nor the
 * payments are checked, and all deposits in the inputs' transactions that name the order are given.
 * @source rules P-129, P-130
 */
export const attestFill: Attest<FillsRequest, WithExecution<FillsResponse>> = async (
  request,
  context,
  options,
) => {
  const orderId = hashOrder(request.order, context.networkOf)
  const inputEntries = nameInputs(request, context)
  const outputChain = chainOf(context, request.order.output.chainId)
  const transactionId = codecOf(outputChain).canonicalTransactionId(request.fill.transactionId)
  const fill = { request, orderId, inputEntries, outputChain, transactionId }
  return request.force === true ? forcedFill(fill, context, options) : provenFill(fill, context, options)
}

/** A request with its order's id, and its entries in canonical spelling. */
type RequestedFill = {
  readonly request: FillsRequest
  readonly orderId: Hex
  readonly inputEntries: readonly NamedInput[]
  readonly outputChain: AttestedChain
  readonly transactionId: string
}

type AttestedFill = Promise<Attested<WithExecution<FillsResponse>>>

async function forcedFill(
  fill: RequestedFill,
  context: AttestationContext,
  options: ReadOptions,
): AttestedFill {
  const { request, orderId, inputEntries } = fill
  const inputs = await readInputs(inputEntries, context, options)
  const deposits = forcedDeposits(inputs, orderId)
  const { order } = request
  const execution = settlementExecution({ order, orderId, deposits, context, paysFees: true })
  return {
    unsigned: { message: buildMessage(fill, 0n), execution },
    evidence: evidenceOf(inputs),
    isFinal: true,
  }
}

async function provenFill(
  fill: RequestedFill,
  context: AttestationContext,
  options: ReadOptions,
): AttestedFill {
  const { request, orderId, inputEntries, outputChain } = fill
  const { order, orderSignature } = request
  checkOrderSignature({ solver: order.solver, orderId, signature: orderSignature }, context)
  const inputs = entryPerInput(inputEntries, order, 'MISSING_INPUT')
  const readingInputs = readInputs(inputs, context, options)
  const [deposits, fillFacts] = await awaitInputsFirst(
    readingInputs.then((read) => matchInputs(read, orderId)),
    readFill(fill, context, options),
  )
  const bpsDiff = weightedBpsDiff(order, deposits)
  checkPayments(demandedPayments(fill, fillFacts), 'INSUFFICIENT_FILL')
  checkCalls(order.output.calls, fillFacts, outputChain)
  const execution = settlementExecution({ order, orderId, deposits, context, paysFees: true })
  return {
    unsigned: { message: buildMessage(fill, bpsDiff), execution },
    evidence: evidenceOf([...(await readingInputs), { facts: fillFacts }]),
    isFinal: true,
    settlement: {
      orderId,
      worth: worthOf(bpsDiff),
      // Two names: no other fill of the order, and no refund by this transaction, may settle other deposits.
      payments: [fillPaymentName, paymentName(outputChain.id, fillFacts)],
    },
  }
}

/** @param bpsDiff difference between deposits and the order's inputs; 0 with `force`, which compares nothing */
function buildMessage(
  { request, orderId, inputEntries, transactionId }: RequestedFill,
  bpsDiff: bigint,
): FillsResponse['message'] {
  const { order, orderSignature } = request
  return {
    data: { order, orderSignature, inputs: signedEntries(inputEntries), fill: { transactionId } },
    // Status 1: settled. No other one is ever signed.
    result: { orderId, status: 1, totalWeightedInputPaymentBpsDiff: bpsDiff.toString() },
    signatures: [],
  }
}

/** Reads the fill's transaction once for all payments of the order. */
async function readFill(
  { request, orderId, transactionId, outputChain }: RequestedFill,
  context: Pick<AttestationContext, 'readerOf'>,
  options: ReadOptions,
): Promise<PaymentFacts> {
  const { extraData, payments, calls } = request.order.output
  const hints = request.hints === undefined ? {} : { hints: request.hints }
  const question = { transactionId, orderId, extraData, payments, calls, ...hints }
  return context.readerOf(outputChain.id).readPayment(question, options)
}

function demandedPayments({ request, orderId, outputChain: chain }: RequestedFill, facts: PaymentFacts) {
  const { output } = request.order
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
  // The records of a fill contract that is not listed do not count, so its calls seem missing.
  if (facts.unlistedFillContract !== undefined)
    throw unknownFillContract(facts, chain, { callIndex: missing })
  throw new AttestationError('MISSING_CALLS', `Call ${missing} of the order was not executed in its turn.`, {
    data: { callIndex: missing },
  })
}
