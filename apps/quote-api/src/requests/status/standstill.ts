import { blockedWallet } from '@causeway/chains'
import { assertNever, executionReverted, orderRefused, quotedGasExceeded } from '@causeway/core'
import { isReason, type Reason } from './reasons.ts'

/** Report that is stored with a work item whose transaction reverted. */
export const reverted = 'reverted'

/** Time when a chain was last seen to move, and the time between two of its blocks. */
type ChainMotion = { readonly movedAtMs: number; readonly paceMs: number }

/** A part of a request or claim that is not finished. */
export type Waiting = {
  /** Start of the time without progress. */
  readonly sinceMs: number
  /** The chains whose blocks it waits for. */
  readonly chains: readonly ChainMotion[]
  /** Reason of a stop, by an operator or oracles, of a chain that it depends on; undefined without one. */
  readonly stop: string | undefined
  readonly tries: number
  /** Last answer of the solver or of the chain. */
  readonly report: string | undefined
} & (
  | {
      /** `shallow`: it lacks depth. `deep`: it has depth and is undecided. `held`: the deny list holds it. */
      readonly part: 'deposit' | 'address'
      readonly state: 'shallow' | 'deep' | 'held'
    }
  | {
      /**
       * `undecided`: the solver has ended its work item, and no step of the request followed. `confirming`:
       * the fill is not final. `unproven`: it is final and not attested, or not seen.
       */
      readonly part: 'stage'
      readonly state: 'parked' | 'undecided' | 'unproven' | 'confirming'
    }
  | {
      readonly part: 'work'
      readonly state: 'open' | 'reported' | 'included' | 'withheld' | 'failed'
    }
  /** A hold that has ended without being freed, or a transaction that is put aside. */
  | { readonly part: 'hold' | 'transaction'; readonly state: 'over' }
)

/** Why and since when something stands still. */
export type Standstill = {
  readonly reason: Reason
  /** Time at which it comes onto the list, unless it makes progress before. */
  readonly listedAtMs: number
  /** True if only an operator can end it. */
  readonly needsOperator: boolean
}

const dayMs = 86_400_000
/** A chain counts as standing still if no block came in the time of this many blocks. */
const missedBlocksMax = 10

/**
 * Decides when something unfinished counts as a standstill, and why. Waiting for depth is none while the
 * chain makes blocks, for a day at most. Work that the solver refuses is listed at once, and so is what only
 * an operator can end. Pure.
 * @param limitMs time without progress that is normal
 * @source rules O-45 to O-48, O-85
 */
export function standstillOf(waiting: Waiting, limitMs: number): Standstill {
  switch (waiting.part) {
    case 'deposit':
    case 'address':
      if (waiting.state === 'held') return parked(waiting, blockedWallet)
      if (waiting.state === 'shallow') return confirming(waiting, 'DEPOSIT_CONFIRMATION_TIMEOUT', limitMs)
      if (waiting.part === 'deposit') return standing(waiting, 'UNDECIDED', limitMs)
      return standing(waiting, stopReason(waiting) ?? failureOf(waiting) ?? 'PAYMENT_NOT_SWEPT', limitMs)
    case 'stage':
      if (waiting.state === 'parked') return parked(waiting, storedReason(waiting.report))
      if (waiting.state === 'confirming') return confirming(waiting, 'CHAIN_STANDS', limitMs)
      return standing(
        waiting,
        waiting.state === 'unproven' ? storedReason(waiting.report) : 'UNDECIDED',
        limitMs,
      )
    case 'work':
      return standstillOfWork(waiting, limitMs)
    case 'hold':
      return standing(waiting, 'HOLD_STAYS', limitMs)
    case 'transaction':
      return standing(waiting, 'TRANSACTION_UNREADABLE', limitMs)
    default:
      return assertNever(waiting)
  }
}

function standstillOfWork(waiting: Extract<Waiting, { part: 'work' }>, limitMs: number): Standstill {
  switch (waiting.state) {
    case 'withheld':
      return parked(waiting, blockedWallet)
    case 'failed':
      return parked(waiting, 'REFUND_FAILED')
    case 'open': {
      const stop = stopReason(waiting)
      if (stop !== undefined) return standing(waiting, stop, limitMs)
      const failure = failureOf(waiting)
      // Refused work is listed at once, because another try changes nothing.
      return standing(waiting, failure ?? waitOf(waiting.report), failure === orderRefused ? 0 : limitMs)
    }
    case 'reported': {
      const blocksMs = waiting.chains.map(({ paceMs }) => missedBlocksMax * paceMs)
      const patienceMs = Math.min(dayMs, Math.max(limitMs, ...blocksMs))
      // Failures of earlier tries say nothing about the transaction that is followed now.
      return standing(waiting, failureOf({ ...waiting, tries: 0 }) ?? 'TRANSACTION_NOT_INCLUDED', patienceMs)
    }
    case 'included':
      return confirming(waiting, 'CHAIN_STANDS', limitMs)
    default:
      return assertNever(waiting.state)
  }
}

/** Standstill that is listed after a time without progress. */
function standing({ sinceMs }: Waiting, reason: Reason, afterMs: number): Standstill {
  return { reason, listedAtMs: sinceMs + afterMs, needsOperator: false }
}

/** Standstill that only an operator can end. */
function parked({ sinceMs }: Waiting, reason: Reason): Standstill {
  return { reason, listedAtMs: sinceMs, needsOperator: true }
}

/** Waits for depth: listed once one of its chains stands, or after a day, but never before the limit. */
function confirming({ sinceMs, chains }: Waiting, reason: Reason, limitMs: number): Standstill {
  const chainStandsAtMs = chains.map(
    ({ movedAtMs, paceMs }) => movedAtMs + Math.max(limitMs, missedBlocksMax * paceMs),
  )
  const listedAtMs = Math.max(sinceMs + limitMs, Math.min(sinceMs + dayMs, ...chainStandsAtMs))
  return { reason, listedAtMs, needsOperator: false }
}

const stopReason = ({ stop }: Waiting): Reason | undefined =>
  stop === undefined ? undefined : 'CHAIN_STOPPED'

/** The stored reason, unless an earlier release stored one that is not known any more. */
const storedReason = (text: string | undefined): Reason =>
  text !== undefined && isReason(text) ? text : 'UNDECIDED'

/** Reason of the last failure of a work item that is tried again, by its last report; undefined if nothing failed. */
export function failureOf({ tries, report }: Pick<Waiting, 'tries' | 'report'>): Reason | undefined {
  if (report === reverted) return 'TRANSACTION_REVERTED'
  if (report === 'lapsed' || report === 'not_included') return 'TRANSACTION_NOT_INCLUDED'
  if (report?.startsWith('does not pay') === true) return 'DOES_NOT_PAY'
  if (tries === 0) return undefined
  if (report?.startsWith(orderRefused) === true) return orderRefused
  if (report?.startsWith(executionReverted) === true) return 'EXECUTION_REVERTED'
  if (report?.startsWith(quotedGasExceeded) === true) return 'QUOTED_GAS_LIMIT_EXCEEDED'
  return lacksBalance(report) ? 'SOLVER_BALANCE_TOO_LOW' : 'TRANSACTION_SUBMISSION_FAILED'
}

/** Reason that a solver has not begun an offered item, by its report. @source rule Q-75 */
function waitOf(report: string | undefined): Reason {
  if (report === undefined) return 'SOLVER_SILENT'
  return lacksBalance(report) ? 'SOLVER_BALANCE_TOO_LOW' : 'SOLVER_WAITS'
}

/** True if a solver's report says that its wallet holds too little. */
const lacksBalance = (report = ''): boolean => /inventory|balance/i.test(report)
