import type { WorkState } from '../../requests/work/workItem.ts'

/** The payout that the solver reported, as its chain shows it. `none`: none was reported. `absent`: missing or reverted. */
export type PayoutReading = 'none' | 'not_final' | 'absent' | 'paid' | 'pays_less'

/** The job's next step with a claim; `pay` marks it paid. */
export type ClaimStep =
  | { readonly action: 'wait' }
  | { readonly action: 'pay' }
  /** Ends the claim, so that its amount can be claimed again. */
  | { readonly action: 'fail'; readonly reason: ClaimFailure }
  /** The payout is final, names the claim and pays too little: only a person can tell what is still owed. */
  | { readonly action: 'call_operator' }

export type ClaimFailure = 'TTL_EXPIRED' | 'TRANSACTION_SUBMISSION_FAILED' | 'TRANSACTION_NOT_INCLUDED'

/**
 * Next step of a pending claim. Pure. A claim has at most one transaction, and only that transaction's final facts mark
 * it paid. It fails when nothing was signed for it, or when the solver, whose money it is, reports that its transaction
 * can have no effect any more and a quorum does not see it succeed.
 * @source rule L-79
 */
export function claimStep(args: {
  readonly work: WorkState
  readonly reading: PayoutReading
  readonly nowSeconds: number
  readonly deadlineSeconds: number
}): ClaimStep {
  const { work, reading, nowSeconds, deadlineSeconds } = args
  switch (reading) {
    case 'none':
      if (work === 'failed') return { action: 'fail', reason: 'TRANSACTION_SUBMISSION_FAILED' }
      if (work === 'open' && nowSeconds > deadlineSeconds) return { action: 'fail', reason: 'TTL_EXPIRED' }
      return { action: 'wait' }
    case 'paid':
      return { action: 'pay' }
    case 'pays_less':
      return { action: 'call_operator' }
    case 'absent':
      if (work === 'failed') return { action: 'fail', reason: 'TRANSACTION_NOT_INCLUDED' }
      return { action: 'wait' }
    case 'not_final':
      return { action: 'wait' }
  }
}
