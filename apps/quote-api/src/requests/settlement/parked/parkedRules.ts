import type { SettlementStage } from '../../status/requestProgress.ts'
import type { WorkState } from '../../work/workItem.ts'

/** Ways in which an operator can end a parked request, or let it go on. None of them debits a sponsor. */
export const resolutions = ['unpaid', 'refund', 'release', 'recover'] as const
export type Resolution = (typeof resolutions)[number]

export type ParkedFacts = {
  /** The recipient has its output. */
  readonly isFilled: boolean
  /** State of the refund that the request waits for; absent if none was asked for. */
  readonly refund: WorkState | undefined
  /** True if it waits only because an account is denied. */
  readonly isBlocked: boolean
  /** Its fill contract says that it was paid. */
  readonly isRecorded: boolean
  /** Its depositors may recover it on the hub. */
  readonly mayRecover: boolean
}

/**
 * The stage that a parked request takes up again, where the same rules decide on the same kind of facts as before:
 * a debit needs its attestations like any other. Pure.
 */
export function retryStage({
  isFilled,
  refund,
}: Pick<ParkedFacts, 'isFilled' | 'refund'>): Extract<SettlementStage, 'filling' | 'filled' | 'refunding'> {
  if (isFilled) return 'filled'
  return refund === undefined ? 'filling' : 'refunding'
}

/**
 * `recover`: the order is given up for good, and the owners of its deposits take them from the hub. `unpaid`: filled,
 * and the sponsor keeps its money; the solver bears the cost. `refund`: not filled, and the deposit goes back to the
 * user. `release`: the deny list stops it no more, and the usual rules go on. Pure.
 */
export function possibleResolutions(facts: ParkedFacts): readonly Resolution[] {
  const { isFilled, refund, isBlocked, isRecorded, mayRecover } = facts
  const recover: readonly Resolution[] = mayRecover && !isBlocked ? ['recover'] : []
  if (isBlocked) return isFilled || refund !== undefined ? ['release'] : ['release', 'refund']
  if (isFilled || isRecorded) return ['unpaid', ...recover]
  return [...(refund === undefined ? (['refund'] as const) : []), ...recover]
}
