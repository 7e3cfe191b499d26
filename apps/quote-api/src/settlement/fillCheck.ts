import { firstMissingCall, type Order, type PaymentFacts, type VmCodec } from '@causeway/core'

/** What is wrong with a transaction that is said to fill an order. */
export type FillProblem = 'other_order' | 'short' | 'calls_missing' | 'late'

/**
 * Whether a transaction fills an order: it names it, pays every minimum (payments to one recipient in one
 * currency share its transfers) and executes its calls, by the deadline. `late` only when nothing else is
 * wrong: the recipient has the money.
 * @source oracle-protocol.md 4, rules 5 to 7
 */
export function fillProblem(order: Order, facts: PaymentFacts, codec: VmCodec): FillProblem | undefined {
  if (!facts.referencesOrder) return 'other_order'
  const demanded = new Map<string, bigint>()
  for (const { recipient, currency, minimumAmount } of order.output.payments) {
    const key = groupOf(codec, recipient, currency)
    demanded.set(key, (demanded.get(key) ?? 0n) + BigInt(minimumAmount))
  }
  for (const [key, minimum] of demanded) if (paidTo(facts, codec, key) < minimum) return 'short'
  if (firstMissingCall(order.output.calls, facts.calls ?? []) !== undefined) return 'calls_missing'
  return facts.blockTimestampSeconds > BigInt(order.output.deadline) ? 'late' : undefined
}

/** Whether a transaction pays a refund or a claim in full and names it. */
export function paysInFull(
  payload: { readonly recipient: string; readonly currency: string; readonly amount: string },
  facts: PaymentFacts,
  codec: VmCodec,
): boolean {
  const paid = paidTo(facts, codec, groupOf(codec, payload.recipient, payload.currency))
  return facts.referencesOrder && paid >= BigInt(payload.amount)
}

function paidTo({ transfers }: PaymentFacts, codec: VmCodec, group: string): bigint {
  return transfers
    .filter(({ recipient, currency }) => groupOf(codec, recipient, currency) === group)
    .reduce((sum, { amount }) => sum + amount, 0n)
}

function groupOf(codec: VmCodec, recipient: string, currency: string): string {
  return `${codec.canonicalAddress(recipient)} ${codec.canonicalAddress(currency)}`
}
