import { firstUnpaid, type Hex, type PaymentFacts, type UnpaidPayment } from '@causeway/core'
import { codecOf } from '@causeway/core/encodings'
import type { AttestedChain } from '../context.ts'
import { AttestationError } from '../errors.ts'

/** Payment name of an order's fill. All fill transactions of an order share it, so a second one settles nothing more. */
export const fillPaymentName = 'fill'

/** Name of a payment in `ProvenSettlement`. */
export function paymentName(chainId: string, { transactionId }: Pick<PaymentFacts, 'transactionId'>): string {
  return `${chainId} ${transactionId}`
}

/** One payment that an order demands, and the facts of the transaction that the caller names for it. */
export type DemandedPayment = {
  /** Index of the payment (fill) or input (refund) in the order, for refusals. */
  readonly index: number
  readonly chain: AttestedChain
  readonly recipient: string
  readonly currency: string
  readonly minimumAmount: bigint
  /** Unix seconds. */
  readonly deadlineSeconds: bigint
  readonly facts: PaymentFacts
  /** The id that a fill contract records for the payment. */
  readonly recordId: Hex
}

/**
 * Checks that payments are in time and name their order, and after that that all are paid in full by the
 * solver's side. Payments of one transaction to one recipient in one currency are compared by their sum.
 * quote-api compares amounts with the same function, `firstUnpaid`.
 * @throws AttestationError with `insufficientCode` and the index of the first payment left short
 * @source rules P-40, P-129
 */
export function checkPayments(
  payments: readonly DemandedPayment[],
  insufficientCode: 'INSUFFICIENT_FILL' | 'INSUFFICIENT_REFUND',
): void {
  for (const payment of payments) checkTransaction(payment)
  const unpaid = firstUnpaid(payments.map(({ chain, ...payment }) => ({ ...payment, codec: codecOf(chain) })))
  const payment = unpaid && payments[unpaid.position]
  if (unpaid === undefined || payment === undefined) return
  throw refusalOf(unpaid, payment, insufficientCode)
}

function refusalOf(
  { why, paid, demanded }: UnpaidPayment,
  { index, chain, facts, recordId }: DemandedPayment,
  insufficientCode: 'INSUFFICIENT_FILL' | 'INSUFFICIENT_REFUND',
): AttestationError {
  const data = { paymentIndex: index, paidAmount: paid.toString(), minimumAmount: demanded.toString() }
  switch (why) {
    case 'short':
      return new AttestationError(insufficientCode, `Payment ${index} of the order is not paid in full.`, {
        data,
      })
    case 'fill_contract_unknown':
      return unknownFillContract(facts, chain, data)
    case 'payer_not_listed':
      return new AttestationError(
        'PAYER_NOT_LISTED',
        `Payment ${index} of the order was made by an account that is neither the sender nor listed for ${chain.id}.`,
        { data },
      )
    case 'not_recorded':
      return new AttestationError(
        insufficientCode,
        `The fill contract recorded no payment ${index} of the order: ${recordProblemText(facts, recordId)}.`,
        { data },
      )
  }
}

/** Words for `PaymentFacts.recordProblem`. */
const recordProblems: Readonly<Record<string, string>> = {
  not_a_payment: 'the calldata is not exactly pay or fill with the order id behind it',
  another_order: 'another order id stands behind its arguments',
  other_payments: 'it also pays what the order does not ask for',
  other_calls: 'its calls are not exactly those of the order',
  other_clone: 'its calls run elsewhere than the order pays, or what they leave is not swept',
}

function recordProblemText({ recordId, recordProblem = '' }: PaymentFacts, expectedId: Hex): string {
  return recordProblems[recordProblem] ?? `it recorded ${recordId} instead of ${expectedId}`
}

/** Refusal for a fill contract that the chain file does not list; an operator must add it. */
export function unknownFillContract(
  { unlistedFillContract: contract = '' }: PaymentFacts,
  { id }: AttestedChain,
  data: object,
): AttestationError {
  return new AttestationError(
    'FILL_CONTRACT_UNKNOWN',
    `The order names the fill contract ${contract}, which is not among fillContracts of ${id} in the chain file.`,
    { data: { ...data, contract, setting: `chains: ${id}.fillContracts` } },
  )
}

function checkTransaction({ facts, deadlineSeconds, index }: DemandedPayment): void {
  if (facts.blockTimestampSeconds > deadlineSeconds) {
    throw new AttestationError('DEADLINE_PASSED', `Payment ${index} was made after its deadline.`, {
      data: { paymentIndex: index, deadline: deadlineSeconds.toString() },
    })
  }
  if (facts.referencesOrder) return
  throw new AttestationError('ORDER_NOT_REFERENCED', 'The transaction does not reference the order id.', {
    data: { paymentIndex: index },
  })
}
