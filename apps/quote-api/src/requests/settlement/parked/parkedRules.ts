import type { SettlementStage } from '../../status/requestProgress.ts'
import type { WorkState } from '../../work/workItem.ts'

/** Ways in which an operator can end a parked request, or let it go on. None of them debits a sponsor. */
export const resolutions = ['unpaid', 'refund', 'release', 'recover'] as const
export type Resolution = (typeof resolutions)[number]

/** Facts that decide how a parked request may end. */
export type ParkedFacts = {
  /** The recipient was paid. */
  readonly isFilled: boolean
  /** State of the refund that the request waits for; absent if none was asked for. */
  readonly refund: WorkState | undefined
  /** True if it waits only because an account is denied. */
  readonly isBlocked: boolean
  /** The fill contract recorded a payment of the order. */
  readonly isRecorded: boolean
  /** The order may be given up, so that its depositors recover their deposits from the hub. */
  readonly mayRecover: boolean
}

/**
 * The stage in which a parked request continues if an operator retries it. The usual rules then decide again; a debit still
 * needs its attestations. Pure.
 */
export function retryStage(
  facts: Pick<ParkedFacts, 'isFilled' | 'refund'>,
): Extract<SettlementStage, 'filling' | 'filled' | 'refunding'> {
  if (facts.isFilled) return 'filled'
  return facts.refund === undefined ? 'filling' : 'refunding'
}

/**
 * The resolutions that an operator may choose. `unpaid`: the order was filled, the sponsor is not debited, and the solver bears
 * the cost. `refund`: it was not filled, and the deposit is refunded. `release`: it continues despite the deny list.
 * `recover`: the order is given up for good, and depositors take their deposits from the hub. Pure.
 */
export function possibleResolutions(facts: ParkedFacts): readonly Resolution[] {
  const { isFilled, refund, isBlocked, isRecorded, mayRecover } = facts
  const recover: readonly Resolution[] = mayRecover && !isBlocked ? ['recover'] : []
  // No refund is offered once the recipient was paid or a refund was asked for.
  if (isBlocked) return isFilled || refund !== undefined ? ['release'] : ['release', 'refund']
  if (isFilled || isRecorded) return ['unpaid', ...recover]
  return [...(refund === undefined ? (['refund'] as const) : []), ...recover]
}
