import { lateInclusionSeconds } from '../timings.ts'
import type { WorkState } from '../work/workItem.ts'

/**
 * The reported transaction of a permit as its chain shows it. `none`: nothing was reported; `missing`: in no block;
 * `included` and `final`: succeeded; `reverting`: failed in a block that is not final; `reverted`: failed for good.
 */
export type RelayReading = 'none' | 'missing' | 'included' | 'final' | 'reverting' | 'reverted'

/** Public reason of a failed permit. @source rule Q-194 */
export type RelayFailure = 'SIGNATURE_EXPIRED' | 'TRANSACTION_REVERTED' | 'TRANSACTION_SUBMISSION_FAILED'

/** Next step of the job for a permit. */
export type RelayStep =
  | { readonly action: 'wait' }
  /** The deposit is there, whoever sent it. */
  | { readonly action: 'finish' }
  /** The transaction failed for good, and the solver may send another one. */
  | { readonly action: 'offer_again' }
  | { readonly action: 'fail'; readonly reason: RelayFailure }

/**
 * Decides the next step for a permit that the solver relays. Anybody can send a permit, so a deposit counts whoever made it.
 * Pure. @source rule Q-191
 * @param args.work.mayTryAgain false once the attempts are used up
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
  const isTooLate = nowSeconds >= deadlineSeconds + lateInclusionSeconds
  if (work.state === 'reported' && reading === 'reverted') {
    if (work.mayTryAgain && nowSeconds < deadlineSeconds) return { action: 'offer_again' }
    return { action: 'fail', reason: 'TRANSACTION_REVERTED' }
  }
  // The deposit is seen once its block is read, so an included transaction only needs time.
  if (work.state === 'reported' && reading === 'included') return { action: 'wait' }
  // It succeeded without a deposit: a call to an account that has lost its code does nothing and does not fail.
  if (work.state === 'reported' && reading === 'final' && isTooLate)
    return { action: 'fail', reason: 'TRANSACTION_REVERTED' }
  return isTooLate ? { action: 'fail', reason: 'SIGNATURE_EXPIRED' } : { action: 'wait' }
}
