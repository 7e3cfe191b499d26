import { codecOf, type PaymentFacts } from '@causeway/core'
import type { AttestedChain } from '../context.ts'
import { AttestationError } from '../errors.ts'

/** One payment that an order demands, and the transaction that is said to have made it. */
export type DemandedPayment = {
  /** Names the payment in refusals: its place in the order. */
  readonly index: number
  readonly chain: AttestedChain
  readonly recipient: string
  readonly currency: string
  readonly minimumAmount: bigint
  /** Unix seconds. */
  readonly deadlineSeconds: bigint
  readonly facts: PaymentFacts
}

/**
 * Checks payments against what their transactions moved. Payments of one transaction to one recipient
 * in one currency share its transfers, so their minimums are added up: a transfer satisfies one payment
 * only.
 * @throws AttestationError with `insufficientCode` and the index of the first payment left short
 * @source oracle-protocol.md 4, rules 5, 7, 8; 5.1
 */
export function checkPayments(
  payments: readonly DemandedPayment[],
  insufficientCode: 'INSUFFICIENT_FILL' | 'INSUFFICIENT_REFUND',
): void {
  const demandedByGroup = new Map<string, bigint>()
  for (const payment of payments) {
    checkTransaction(payment)
    const group = groupOf(payment)
    const demanded = (demandedByGroup.get(group) ?? 0n) + payment.minimumAmount
    demandedByGroup.set(group, demanded)
    const paid = paidAmount(payment)
    if (paid >= demanded) continue
    const { index } = payment
    throw new AttestationError(insufficientCode, `Payment ${index} of the order is not paid in full.`, {
      data: { paymentIndex: index, paidAmount: paid.toString(), minimumAmount: demanded.toString() },
    })
  }
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

function groupOf({ chain, recipient, currency, facts }: DemandedPayment): string {
  const codec = codecOf(chain)
  const [to, token] = [codec.canonicalAddress(recipient), codec.canonicalAddress(currency)]
  return JSON.stringify([chain.id, facts.transactionId, to, token])
}

function paidAmount({ chain, recipient, currency, facts }: DemandedPayment): bigint {
  const codec = codecOf(chain)
  const [to, token] = [codec.canonicalAddress(recipient), codec.canonicalAddress(currency)]
  return facts.transfers
    .filter(
      (transfer) =>
        codec.canonicalAddress(transfer.recipient) === to &&
        codec.canonicalAddress(transfer.currency) === token,
    )
    .reduce((sum, { amount }) => sum + amount, 0n)
}
