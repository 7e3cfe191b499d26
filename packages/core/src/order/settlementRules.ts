import type { ExecutedCallFact } from '../attestation/facts.ts'
import type { Hex } from '../hex.ts'
import type { Order } from './order.ts'
import { encodeOrderCall } from './orderCall.ts'

/** 100 % of a weighted difference. */
export const bpsDiffUnit = 10n ** 18n

/**
 * How far the weighted deposits are from what the order asked for, in units of `bpsDiffUnit`, truncated
 * toward zero; `undefined` when the order asks for nothing.
 * @param amounts one per order input, in the order's sequence
 * @source oracle-protocol.md 4, rule 4
 */
export function weightedInputBpsDiff(order: Order, amounts: readonly bigint[]): bigint | undefined {
  let paid = 0n
  let requested = 0n
  for (const [index, { payment }] of order.inputs.entries()) {
    const weight = BigInt(payment.weight)
    paid += (amounts[index] ?? 0n) * weight
    requested += BigInt(payment.amount) * weight
  }
  return requested === 0n ? undefined : ((paid - requested) * bpsDiffUnit) / requested
}

/**
 * Place of the first call of an order that was not executed in its turn; others may stand between. Calls
 * are compared in their one ABI encoding. @source oracle-protocol.md 4, rule 6; 5.1, "Calls"
 */
export function firstMissingCall(
  calls: readonly Hex[],
  executed: readonly ExecutedCallFact[],
): number | undefined {
  const encoded = executed.map(({ to, data, value }) =>
    // CAST: families that prove calls name their targets by EVM addresses.
    encodeOrderCall({ to: to as Hex, data, value }),
  )
  let next = 0
  for (const [index, call] of calls.entries()) {
    const position = encoded.indexOf(`0x${call.slice(2).toLowerCase()}`, next)
    if (position < 0) return index
    next = position + 1
  }
  return undefined
}
