import { lateInclusionSeconds } from '../timings.ts'
import type { WorkState } from '../work/workItem.ts'

/** The reported transaction as its chain shows it. `reverting`: in a block that a reorganization may still undo. */
export type RelayReading = 'none' | 'missing' | 'included' | 'final' | 'reverting' | 'reverted'

/** @source rule Q-194 */
export type RelayFailure = 'SIGNATURE_EXPIRED' | 'TRANSACTION_REVERTED' | 'TRANSACTION_SUBMISSION_FAILED'

export type RelayStep =
  | { readonly action: 'wait' }
  /** The deposit is there, whoever sent it. */
  | { readonly action: 'finish' }
  /** The transaction failed for good: another one may be sent. */
  | { readonly action: 'offer_again' }
  | { readonly action: 'fail'; readonly reason: RelayFailure }

/**
 * Next step for a permit that the solver is to send. Pure. Anybody can send it, so the deposit counts, not the solver's
 * transaction. @source rule Q-191
 */
export function relayStep(args: {
  readonly work: { readonly state: WorkState; readonly mayTryAgain: boolean }
  readonly isDeposited: boolean
  readonly reading: RelayReading
  readonly nowSeconds: number
  readonly deadlineSeconds: number
}): RelayStep {
  const { work, isDeposited, reading, nowSeconds, deadlineSeconds } = args
  if (isDeposited) return { action: 'finish' }
  if (work.state === 'failed') return { action: 'fail', reason: 'TRANSACTION_SUBMISSION_FAILED' }
  const isOver = nowSeconds >= deadlineSeconds + lateInclusionSeconds
  if (work.state === 'reported' && reading === 'reverted') {
    if (work.mayTryAgain && nowSeconds < deadlineSeconds) return { action: 'offer_again' }
    return { action: 'fail', reason: 'TRANSACTION_REVERTED' }
  }
  // The watcher reports the deposit once it has read the block, so an included transaction only needs time.
  if (work.state === 'reported' && reading === 'included') return { action: 'wait' }
  // It ran and made no deposit: an account that has no code any more does nothing, and fails at nothing.
  if (work.state === 'reported' && reading === 'final' && isOver)
    return { action: 'fail', reason: 'TRANSACTION_REVERTED' }
  return isOver ? { action: 'fail', reason: 'SIGNATURE_EXPIRED' } : { action: 'wait' }
}
