import { encodeFill } from '@causeway/contracts'
import { type Hex, orderCloneAddress } from '@causeway/core'
import { zeroAddress } from 'viem'
import type { PlannedTransaction } from '../work/relays.ts'
import type { PaidOrder } from '../work/workItems.ts'

/** The native coin's currency. */
export const nativeCurrency: Hex = zeroAddress

/**
 * Payments and calls through the fill contract, with the order id after the calldata. Calls run from a clone of
 * their own, at an address that is `filler`'s alone; what they send along is paid to it first. `id` is what the
 * contract records.
 */
export function fillTransaction(
  order: Pick<PaidOrder, 'orderId' | 'fillContract' | 'deadline' | 'payments' | 'calls'>,
  { id, filler }: { readonly id: Hex; readonly filler: Hex },
): PlannedTransaction {
  const { orderId, fillContract, payments, calls } = order
  const [first] = payments
  const recipient = first?.recipient ?? filler
  const clone = { orderSalt: orderId, recipient, calls }
  const callsNeed = calls.reduce((sum, { value }) => sum + value, 0n)
  const natives = payments
    .filter(({ currency }) => currency === nativeCurrency)
    .map(({ recipient: to, amount }) => ({ to, amount }))
  const data = encodeFill({
    id,
    orderId,
    deadlineSeconds: BigInt(order.deadline),
    natives:
      callsNeed === 0n
        ? natives
        : [...natives, { to: orderCloneAddress({ ...clone, fillContract, filler }), amount: callsNeed }],
    tokens: payments
      .filter(({ currency }) => currency !== nativeCurrency)
      .map(({ currency: token, recipient: to, amount }) => ({ token, to, amount })),
    orderCalls: { ...clone, sweptTokens: [] },
  })
  return { to: fillContract, data, valueWei: nativeNeed(order) }
}

/** What the fill wallet must hold of each currency, each named once. Gas is not among it. */
export function needsOf(order: Pick<PaidOrder, 'payments' | 'calls'>): ReadonlyMap<Hex, bigint> {
  const needs = new Map<Hex, bigint>()
  for (const { currency, amount } of order.payments) {
    if (currency !== nativeCurrency) needs.set(currency, (needs.get(currency) ?? 0n) + amount)
  }
  const native = nativeNeed(order)
  return native === 0n ? needs : needs.set(nativeCurrency, native)
}

function nativeNeed({ payments, calls }: Pick<PaidOrder, 'payments' | 'calls'>): bigint {
  const paid = payments.filter(({ currency }) => currency === nativeCurrency).map(({ amount }) => amount)
  return [...paid, ...calls.map(({ value }) => value)].reduce((sum, part) => sum + part, 0n)
}
