import { executionReverted, quotedGasExceeded } from '@causeway/core'
import { lateInclusionSeconds } from '../../timings.ts'
import type { WorkState } from '../../work/workItem.ts'
import type { FillProblem } from '../payments/fillCheck.ts'

/** The reported fill as its chain shows it; `none`: nothing was reported. */
export type FillReading =
  | { readonly state: 'none' }
  /** `isLapsed`: a final block is later than the transaction's validity, so that it can never be included. */
  | { readonly state: 'missing'; readonly isLapsed: boolean }
  /** `isFinal`: it failed in a final block, so that it cannot succeed any more. */
  | { readonly state: 'reverted'; readonly isFinal: boolean }
  | {
      readonly state: 'included'
      /** It has the depth that the chain requires for the order's worth. */
      readonly isDeep: boolean
      readonly problem: FillProblem | undefined
      /** True if the payment is wrong in a final block, so that it stays wrong. */
      readonly isFinal: boolean
    }

/** Next step for a request that waits for its fill. */
export type FillStep =
  | { readonly action: 'wait' }
  /** It is in a block that is not deep enough. */
  | { readonly action: 'show_submitted' }
  /** `isLate`: the recipient was paid after the deadline, which no oracle attests. */
  | { readonly action: 'succeed'; readonly isLate: boolean }
  /** The transaction can never pay the order: it failed, lapsed, or finally pays something else. Another may be sent. */
  | { readonly action: 'offer_again'; readonly why: 'reverted' | 'lapsed' | FillProblem }
  | { readonly action: 'refund'; readonly reason: FillFailure }

export type FillFailure =
  | 'EXECUTION_REVERTED'
  | 'QUOTED_GAS_LIMIT_EXCEEDED'
  | 'TTL_EXPIRED'
  | 'TRANSACTION_NOT_INCLUDED'
  | 'TRANSACTION_REVERTED'
  | 'TRANSACTION_SUBMISSION_FAILED'

/**
 * Decides the next step of a request that waits for its fill, by its work item and the reported transaction.
 * Pure. The deposit is refunded only if no fill can come any more: nothing was sent, the sent transaction can
 * never pay, or the deadline has passed, after which a solver must not broadcast. So a `failed` or `open`
 * item is decided by itself, a reported one by its reading. A transaction that can never pay is replaced by
 * another try while there is time, else refunded. One in no block may be included until it lapses: it is
 * waited for until `lateInclusionSeconds` after the deadline.
 * @param args.work.mayTryAgain false once the attempts are used up
 * @source rules L-71 to L-73
 */
export function fillStep(args: {
  readonly work: {
    readonly state: WorkState
    readonly mayTryAgain: boolean
    /** Reason with which the solver gave up. */
    readonly reason?: string | undefined
  }
  readonly reading: FillReading
  readonly nowSeconds: number
  readonly deadlineSeconds: number
}): FillStep {
  const { work, reading, nowSeconds, deadlineSeconds } = args
  if (work.state === 'failed') {
    // The solver's report begins with the reason, and words may follow.
    const failureReason = ([executionReverted, quotedGasExceeded] as const).find((reason) =>
      work.reason?.startsWith(reason),
    )
    return { action: 'refund', reason: failureReason ?? 'TRANSACTION_SUBMISSION_FAILED' }
  }
  if (work.state === 'open') {
    return nowSeconds < deadlineSeconds ? { action: 'wait' } : { action: 'refund', reason: 'TTL_EXPIRED' }
  }
  switch (reading.state) {
    case 'none':
      return { action: 'wait' }
    case 'missing':
      if (reading.isLapsed && work.mayTryAgain && nowSeconds < deadlineSeconds)
        return { action: 'offer_again', why: 'lapsed' }
      if (nowSeconds < deadlineSeconds + lateInclusionSeconds) return { action: 'wait' }
      return { action: 'refund', reason: 'TRANSACTION_NOT_INCLUDED' }
    case 'reverted':
      if (!reading.isFinal) return { action: 'wait' }
      if (work.mayTryAgain && nowSeconds < deadlineSeconds) return { action: 'offer_again', why: 'reverted' }
      return { action: 'refund', reason: 'TRANSACTION_REVERTED' }
    case 'included': {
      const { problem } = reading
      return problem === undefined || problem === 'late'
        ? stepOncePaid(reading)
        : stepOnceUnpaid({ ...reading, problem }, args)
    }
  }
}

type Included = Extract<FillReading, { state: 'included' }>

function stepOncePaid({ isDeep, problem }: Included): FillStep {
  if (!isDeep) return { action: 'show_submitted' }
  return { action: 'succeed', isLate: problem === 'late' }
}

/** Step for a reported transaction that does not pay. Whoever has the solver's key can report any, so it must not end the order. */
function stepOnceUnpaid(
  { isFinal, problem }: Included & { readonly problem: FillProblem },
  { work, nowSeconds, deadlineSeconds }: Parameters<typeof fillStep>[0],
): FillStep {
  if (!isFinal) return { action: 'wait' }
  if (work.mayTryAgain && nowSeconds < deadlineSeconds) return { action: 'offer_again', why: problem }
  return { action: 'refund', reason: 'TRANSACTION_SUBMISSION_FAILED' }
}
