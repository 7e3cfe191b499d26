import {
  firstMissingCall,
  firstUnpaid,
  type Hex,
  type Order,
  type PaymentFacts,
  type UnpaidPayment,
} from '@causeway/core'
import type { VmCodec } from '@causeway/core/encodings'

/** Problem of a transaction that is reported to fill an order. */
export type FillProblem = UnpaidPayment['why'] | 'other_order' | 'calls_missing' | 'late'

/**
 * Problem of a transaction as a fill of an order, by the rule of the oracles: it must name the order alone, pay every
 * minimum from its solver's side and execute the calls, by the deadline. `late` only if nothing else is wrong: the
 * recipient has the money then.
 * @source oracle-protocol.md 4, rules 5 to 7; design.md 7.2
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
      ...{ codec, facts, recordId: orderId },
    })),
  )
  if (unpaid !== undefined) return unpaid.why
  if (firstMissingCall(calls, facts.calls ?? []) !== undefined) return 'calls_missing'
  return facts.blockTimestampSeconds > BigInt(deadline) ? 'late' : undefined
}

/** Problem of a transaction that is reported to pay a refund or a claim in full; it must name that one alone. */
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
