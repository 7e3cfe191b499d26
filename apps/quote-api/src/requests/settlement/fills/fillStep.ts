import { executionReverted, quotedGasExceeded } from '@causeway/core'
import { lateInclusionSeconds } from '../../timings.ts'
import type { WorkState } from '../../work/workItem.ts'
import type { FillProblem } from '../payments/fillCheck.ts'

/** The reported fill as its chain shows it. */
export type FillReading =
  | { readonly state: 'none' }
  /** `isLapsed`: a final block is later than all that was reported has any effect in. */
  | { readonly state: 'missing'; readonly isLapsed: boolean }
  /** `isFinal`: no reorganization can make a success of it. */
  | { readonly state: 'reverted'; readonly isFinal: boolean }
  | {
      readonly state: 'included'
      /** As deep as its chain asks for the value of the order. */
      readonly isDeep: boolean
      readonly problem: FillProblem | undefined
      /** The block is final: what is wrong with the payment stays wrong. */
      readonly isFinal: boolean
    }

export type FillStep =
  | { readonly action: 'wait' }
  /** In a block, not deep enough. */
  | { readonly action: 'show_submitted' }
  /** `isLate`: the recipient has its money, but nobody attests it. */
  | { readonly action: 'succeed'; readonly isLate: boolean }
  /** The transaction failed or lapsed for good, or is final and pays something else: another one may be sent. */
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
 * Next step of a request that waits for its fill, from the work item and its transaction. Pure. Money goes back only
 * when nothing was sent, when the sent transaction failed or finally pays something else, or after the deadline, when a
 * solver may not broadcast any more.
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
    const failureReason = ([executionReverted, quotedGasExceeded] as const).find((one) =>
      work.reason?.startsWith(one),
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

/** A report that is not so costs the user nothing: whoever holds the solver's key may name any transaction. */
function stepOnceUnpaid(
  { isFinal, problem }: Included & { readonly problem: FillProblem },
  {
    work,
    nowSeconds,
    deadlineSeconds,
  }: Pick<Parameters<typeof fillStep>[0], 'work' | 'nowSeconds' | 'deadlineSeconds'>,
): FillStep {
  if (!isFinal) return { action: 'wait' }
  if (work.mayTryAgain && nowSeconds < deadlineSeconds) return { action: 'offer_again', why: problem }
  return { action: 'refund', reason: 'TRANSACTION_SUBMISSION_FAILED' }
}
