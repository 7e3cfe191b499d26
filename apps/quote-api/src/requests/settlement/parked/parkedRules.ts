import type { SettlementStage } from '../../status/requestProgress.ts'
import type { WorkState } from '../../work/workItem.ts'

/** How an operator can end a parked request, or let it go on. None of them debits a sponsor. */
export const resolutions = ['unpaid', 'refund', 'release'] as const
export type Resolution = (typeof resolutions)[number]

export type ParkedFacts = {
  /** The recipient has its output. */
  readonly isFilled: boolean
  /** Of the refund that the request waits for; absent where none was asked for. */
  readonly refund: WorkState | undefined
  /** It waits because somebody is denied, and for nothing else. */
  readonly isBlocked: boolean
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
 * `unpaid`: filled, and the sponsor keeps its money; the solver bears the cost. `refund`: not filled, and the
 * deposit goes back to the user. `release`: the deny list stops it no more, and the usual rules go on. Pure.
 */
export function possibleResolutions({ isFilled, refund, isBlocked }: ParkedFacts): readonly Resolution[] {
  if (isBlocked) return isFilled || refund !== undefined ? ['release'] : ['release', 'refund']
  if (isFilled) return ['unpaid']
  return refund === undefined ? ['refund'] : []
}

const meanings: Readonly<Record<string, string>> = {
  BLOCKED_WALLET:
    'The deny list, here or of the solver, names an account of it: nothing was paid, and nothing was given back.',
  SEEN_BUT_DENIED: 'We see the fill, and so many oracles deny it that no quorum is left.',
  ATTESTED_BUT_NOT_SEEN: 'Oracles sign a fill that our endpoints do not show.',
  FILL_NOT_SEEN: 'Our endpoints did not show the fill before the hold ended.',
  ATTESTATION_TIMED_OUT: 'Too few oracles signed the fill before the hold ended.',
  TRACE_NEEDED:
    'The solver paid a contract and no trace tells whether it kept the coin: set traceInternalTransfers for the chain, with endpoints that trace, here and in the oracles. It then goes on by itself.',
  FILLED_LATE: 'The recipient was paid after the deadline: nobody attests that.',
  REFUND_NEEDS_TRACE:
    'The solver refunded to a contract and the chain is not traced: nobody can tell whether it kept the coin.',
  REFUND_FAILED: 'The solver could not refund.',
}

/** What a reason says, in one sentence. */
export function meaningOf(reason: string): string {
  return meanings[reason] ?? 'The ledger refused the debit; the name of the reason says why.'
}
