import {
  firstMissingCall,
  firstUnpaid,
  type Hex,
  type Order,
  type PaymentFacts,
  type UnpaidPayment,
} from '@causeway/core'
import type { VmCodec } from '@causeway/core/encodings'

/** Why a reported transaction does not count as a fill or another payment. */
export type FillProblem = UnpaidPayment['why'] | 'other_order' | 'calls_missing' | 'late'

/**
 * Checks a transaction as the fill of an order by the rules of the oracles: it must name only this order, pay every minimum and
 * execute the calls, by the deadline. `late` means that all else is right, so that the recipient has the money.
 * @source rules F-166, P-40, P-129
 */
export function fillProblem(
  { order, orderId }: { readonly order: Order; readonly orderId: Hex },
  facts: PaymentFacts,
  codec: VmCodec,
): FillProblem | undefined {
  if (!facts.referencesOrder) return 'other_order'
  const { payments, calls, deadline } = order.output
  const unpaid = firstUnpaid(
    payments.map(({ minimumAmount, ...payment }) => ({
      ...payment,
      minimumAmount: BigInt(minimumAmount),
      codec,
      facts,
      recordId: orderId,
    })),
  )
  if (unpaid !== undefined) return unpaid.why
  if (firstMissingCall(calls, facts.calls ?? []) !== undefined) return 'calls_missing'
  return facts.blockTimestampSeconds > BigInt(deadline) ? 'late' : undefined
}

/** Checks a transaction as the full payment of a refund or claim; it must name only that one. */
export function paymentProblem(
  {
    recipient,
    currency,
    amount,
    recordId,
  }: {
    readonly recipient: string
    readonly currency: string
    readonly amount: string
    /** The refund's or claim's own id. */
    readonly recordId: Hex
  },
  facts: PaymentFacts,
  codec: VmCodec,
): FillProblem | undefined {
  if (!facts.referencesOrder) return 'other_order'
  return firstUnpaid([{ recipient, currency, recordId, minimumAmount: BigInt(amount), codec, facts }])?.why
}
