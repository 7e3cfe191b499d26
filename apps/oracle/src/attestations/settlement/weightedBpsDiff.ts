import { bpsDiffUnit, type Order, weightedInputBpsDiff } from '@causeway/core'
import { AttestationError } from '../errors.ts'
import type { OrderDeposit } from './orderInputs.ts'

/**
 * How far the weighted deposits are from what the order asked for: 10^18 is 100 %, truncated toward
 * zero. @param deposits one per order input, in the order's sequence
 * @throws AttestationError when the order asks for nothing
 * @source oracle-protocol.md 4, rule 4
 */
export function weightedBpsDiff(order: Order, deposits: readonly OrderDeposit[]): bigint {
  const diff = weightedInputBpsDiff(
    order,
    order.inputs.map((_input, index) => deposits[index]?.deposit.amount ?? 0n),
  )
  if (diff === undefined) {
    throw new AttestationError('INVALID_ORDER', 'The weighted input amounts of the order add up to zero.')
  }
  if (diff < 2n ** 255n) return diff
  throw new AttestationError('INVALID_ORDER', 'The deposits exceed the order beyond what can be signed.')
}

/** `amount` scaled by the difference, truncated toward zero. @source oracle-protocol.md 4, rule 7 */
export function scaledByDiff(amount: bigint, bpsDiff: bigint): bigint {
  return amount + (amount * bpsDiff) / bpsDiffUnit
}

/** What the deposits are of what the order asks for: 10^18 is all of it, and more is no more. */
export function worthOf(bpsDiff: bigint): bigint {
  return bpsDiff < 0n ? bpsDiffUnit + bpsDiff : bpsDiffUnit
}
