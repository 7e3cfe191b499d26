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
  /** Reason of an operator's stop of a chain that it depends on; undefined without a stop. */
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
      /** `undecided`: the solver has ended its work item, and no step of the request followed. */
      readonly part: 'stage'
      readonly state: 'parked' | 'undecided' | 'unproven' | 'confirming'
    }
  | {
      readonly part: 'work'
      readonly state: 'open' | 'reported' | 'included' | 'withheld' | 'failed'
    }
  | { readonly part: 'hold' | 'transaction'; readonly state: 'over' }
)

/** Why and since when something stands still. */
export type Standstill = {
  readonly reason: Reason
  /** Time at which it comes onto the list, unless it makes progress before. */
  readonly listedAtMs: number
  /** True if only an operator can end it. */
  readonly isOperators: boolean
}

const dayMs = 86_400_000
/** A chain counts as standing still if no block came in the time of this many blocks. */
const missedBlocksMax = 10

/**
 * Decides when something unfinished counts as a standstill, and why. Waiting for depth is none while the chain makes blocks,
 * for a day at most. Work that the solver refuses is listed at once. Pure.
 * @source rules O-45 to O-48, O-85
 */
export function standstillOf(waiting: Waiting, limitMs: number): Standstill {
  const { sinceMs, chains, stop } = waiting
  const standing = (reason: Reason, afterMs = limitMs): Standstill => ({
    reason,
    listedAtMs: sinceMs + afterMs,
    isOperators: false,
  })
  const parked = (reason: Reason): Standstill => ({ reason, listedAtMs: sinceMs, isOperators: true })
  const patienceMs = Math.min(
    dayMs,
    Math.max(limitMs, ...chains.map(({ paceMs }) => missedBlocksMax * paceMs)),
  )
  const confirming = (reason: Reason): Standstill => {
    const chainsAtMs = chains.map(
      ({ movedAtMs, paceMs }) => movedAtMs + Math.max(limitMs, missedBlocksMax * paceMs),
    )
    const listedAtMs = Math.max(sinceMs + limitMs, Math.min(sinceMs + dayMs, ...chainsAtMs))
    return { ...standing(reason), listedAtMs }
  }
  const stopped = stop === undefined ? undefined : standing('CHAIN_STOPPED')
  switch (waiting.part) {
    case 'deposit':
    case 'address':
      if (waiting.state === 'held') return parked(blockedWallet)
      if (waiting.state === 'shallow') return confirming('DEPOSIT_CONFIRMATION_TIMEOUT')
      if (waiting.part === 'deposit') return standing('UNDECIDED')
      return stopped ?? standing(failureOf(waiting) ?? 'PAYMENT_NOT_SWEPT')
    case 'stage':
      if (waiting.state === 'parked') return parked(storedReason(waiting.report))
      if (waiting.state === 'confirming') return confirming('CHAIN_STANDS')
      return standing(waiting.state === 'unproven' ? storedReason(waiting.report) : 'UNDECIDED')
    case 'work':
      switch (waiting.state) {
        case 'withheld':
          return parked(blockedWallet)
        case 'failed':
          return parked('REFUND_FAILED')
        case 'open': {
          const failure = failureOf(waiting)
          // Refused work is listed at once, because another try changes nothing.
          return (
            stopped ?? standing(failure ?? waitOf(waiting.report), failure === orderRefused ? 0 : limitMs)
          )
        }
        case 'reported':
          return standing(failureOf({ ...waiting, tries: 0 }) ?? 'TRANSACTION_NOT_INCLUDED', patienceMs)
        case 'included':
          return confirming('CHAIN_STANDS')
        default:
          return assertNever(waiting)
      }
    case 'hold':
      return standing('HOLD_STAYS')
    case 'transaction':
      return standing('TRANSACTION_UNREADABLE')
    default:
      return assertNever(waiting)
  }
}

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

/** Reason that a solver has not begun an offered item, by its report. @source docs/specification/quotes.md Q-75 */
function waitOf(report: string | undefined): Reason {
  if (report === undefined) return 'SOLVER_SILENT'
  return lacksBalance(report) ? 'SOLVER_BALANCE_TOO_LOW' : 'SOLVER_WAITS'
}

/** True if a solver's report says that its wallet holds too little. */
const lacksBalance = (report = ''): boolean => /inventory|balance/i.test(report)
