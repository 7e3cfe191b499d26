import type { RefundsResponse } from '@causeway/attestations'
import {
  type Hex,
  orderId as hashOrder,
  type OrderRefund,
  type PaymentFacts,
  refundedDeposit,
  refundId,
  UnknownOrderPartError,
} from '@causeway/core'
import { codecOf } from '@causeway/core/encodings'
import type { RefundsRequest } from '../wire/requests.ts'
import {
  type Attest,
  type AttestationContext,
  type AttestedChain,
  chainOf,
  type WithExecution,
} from './context.ts'
import { settlementExecution } from './settlement/execution.ts'
import {
  awaitInputsFirst,
  entryPerInput,
  evidenceOf,
  forcedDeposits,
  matchInputs,
  nameInputs,
  type OrderDeposit,
  readInputs,
  scaledByDiff,
  signedEntries,
  weightedBpsDiff,
  worthOf,
} from './settlement/orderInputs.ts'
import { checkOrderSignature } from './settlement/orderSignature.ts'
import { checkPayments, paymentName } from './settlement/payments.ts'

/**
 * POST /attestations/solver-refunds/v1: attests that a solver paid an order's inputs back; the execution
 * gives it the order's deposits on the hub. It checks the order's signature, then that each input has one
 * deposit and one refund, then the amounts. With `force`, which the route allows to operators' keys alone,
 * neither the order's signature nor the refunds are checked, and all deposits in the inputs' transactions that name
 * the order are given.
 * @source rules P-129, P-130
 */
export const attestRefund: Attest<RefundsRequest, WithExecution<RefundsResponse>> = async (
  request,
  context,
  options,
) => {
  const { order, orderSignature } = request
  const orderId = hashOrder(order, context.networkOf)
  const inputEntries = nameInputs(request, context)
  const refundEntries = nameRefunds(request, context)
  const message = (bpsDiff: bigint): RefundsResponse['message'] => ({
    data: {
      order,
      orderSignature,
      inputs: signedEntries(inputEntries),
      refunds: refundEntries.map(({ transactionId, inputIndex, refundIndex }) => ({
        transactionId,
        inputIndex,
        refundIndex,
      })),
    },
    // Status 1: settled. No other one is ever signed.
    result: { orderId, status: 1, totalWeightedInputPaymentBpsDiff: bpsDiff.toString() },
    signatures: [],
  })

  if (request.force === true) {
    const read = await readInputs(inputEntries, context, options)
    const deposits = forcedDeposits(read, orderId)
    const execution = settlementExecution({ order, orderId, deposits, context, paysFees: false })
    return { unsigned: { message: message(0n), execution }, evidence: evidenceOf(read), isFinal: true }
  }

  checkOrderSignature({ solver: order.solver, orderId, signature: orderSignature }, context)
  const inputs = entryPerInput(inputEntries, order, 'MISSING_INPUT')
  // From here on `refunds`, `deposits` and `paidRefunds` have one element per input, in the order's sequence.
  const refunds = entryPerInput(refundEntries, order, 'MISSING_REFUND')
  const readingInputs = readInputs(inputs, context, options)
  const matchingInputs = readingInputs.then((read) => matchInputs(read, orderId))
  const readingRefunds = readRefunds({ refunds, deposits: matchingInputs, orderId, context }, options)
  const [deposits, paidRefunds] = await awaitInputsFirst(matchingInputs, readingRefunds)
  const bpsDiff = weightedBpsDiff(order, deposits)
  checkPayments(demandedPayments({ paidRefunds, deposits, orderId, bpsDiff }), 'INSUFFICIENT_REFUND')
  const execution = settlementExecution({ order, orderId, deposits, context, paysFees: false })
  return {
    unsigned: { message: message(bpsDiff), execution },
    evidence: evidenceOf([...(await readingInputs), ...paidRefunds]),
    isFinal: true,
    settlement: {
      orderId,
      worth: worthOf(bpsDiff),
      payments: paidRefunds.map(({ refund, facts }) => paymentName(refund.chain.id, facts)),
    },
  }
}

/** A refund entry of the request, with the refund that the order offers under its indices. */
type NamedRefund = {
  readonly transactionId: string
  readonly inputIndex: number
  readonly refundIndex: number
  readonly offer: OrderRefund
  /** Chain on which the refund is paid. */
  readonly chain: AttestedChain
  readonly hints: RefundsRequest['hints']
}

/** The request's refunds with canonical ids. @throws UnknownOrderPartError for one that the order does not offer */
function nameRefunds(
  { refunds, order, hints: hintsOfAll }: RefundsRequest,
  context: Pick<AttestationContext, 'chains'>,
): readonly NamedRefund[] {
  return refunds.map(({ transactionId, inputIndex, refundIndex, hints = hintsOfAll }) => {
    const offer = order.inputs[inputIndex]?.refunds[refundIndex]
    if (offer === undefined) throw new UnknownOrderPartError({ inputIndex, refundIndex })
    const chain = chainOf(context, offer.chainId)
    const canonical = codecOf(chain).canonicalTransactionId(transactionId)
    return { transactionId: canonical, inputIndex, refundIndex, offer, chain, hints }
  })
}

/** A refund, its recipient (the depositor where the offer means him), and the facts of its transaction. */
type PaidRefund = { readonly refund: NamedRefund; readonly recipient: string; readonly facts: PaymentFacts }

type RefundReading = {
  /** One per input of the order, in the order's sequence, as are `deposits`. */
  readonly refunds: readonly NamedRefund[]
  readonly deposits: Promise<readonly OrderDeposit[]>
  readonly orderId: Hex
  readonly context: Pick<AttestationContext, 'readerOf'>
}

/**
 * Reads the refunds' transactions at the same time as the inputs, so that receipts of one chain travel in one request.
 * Only a refund to the depositor waits for the inputs, as it needs their depositors.
 */
function readRefunds(
  { refunds, deposits, orderId, context }: RefundReading,
  options: { readonly signal: AbortSignal },
): Promise<readonly PaidRefund[]> {
  return Promise.all(
    refunds.map(async (refund, index) => {
      const { chain, transactionId, hints, offer } = refund
      const { currency, extraData } = offer
      const recipient = isToDepositor(refund) ? depositorOf(refund, (await deposits)[index]) : offer.recipient
      const payments = [{ recipient, currency }]
      const question = { transactionId, orderId, extraData, payments, ...(hints !== undefined && { hints }) }
      const facts = await context.readerOf(chain.id).readPayment(question, options)
      return { refund, recipient, facts }
    }),
  )
}

/**
 * True where the refund's recipient is the native currency's address, which means the depositor.
 * @source github.com/relayprotocol/relay-protocol-oracle, src/services/attestation/index.ts
 */
function isToDepositor({ offer: { recipient }, chain }: NamedRefund): boolean {
  const codec = codecOf(chain)
  return codec.canonicalAddress(recipient) === codec.nativeCurrency
}

/** The id that this release's fill contract records for the refund of a deposit. */
function refundRecordId(orderId: Hex, { chain, deposit, facts }: OrderDeposit): Hex {
  return refundId(orderId, refundedDeposit(deposit, { ...facts, chainId: BigInt(chain.hubChainId) }))
}

function depositOf(input: OrderDeposit | undefined): OrderDeposit {
  if (input === undefined) throw new Error('every input has its deposit')
  return input
}

function depositorOf({ chain }: NamedRefund, input: OrderDeposit | undefined): string {
  // The refund's chain may be of another family, where the depositor is no account: then this throws.
  return codecOf(chain).canonicalAddress(depositOf(input).deposit.depositor)
}

function demandedPayments({
  paidRefunds,
  deposits,
  orderId,
  bpsDiff,
}: {
  readonly paidRefunds: readonly PaidRefund[]
  readonly deposits: readonly OrderDeposit[]
  readonly orderId: Hex
  readonly bpsDiff: bigint
}) {
  return paidRefunds.map(({ refund: { offer, chain, inputIndex }, recipient, facts }, index) => ({
    index: inputIndex,
    chain,
    recordId: refundRecordId(orderId, depositOf(deposits[index])),
    recipient,
    currency: offer.currency,
    // Deposits above or below what the order asks for raise or lower the refund that is due in proportion.
    minimumAmount: scaledByDiff(BigInt(offer.minimumAmount), bpsDiff),
    deadlineSeconds: BigInt(offer.deadline),
    facts,
  }))
}
