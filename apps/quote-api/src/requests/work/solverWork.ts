import { blockedWallet } from '@causeway/chains'
import { DomainError, executionReverted, type Hex, type SqlDatabase, type SqlTx } from '@causeway/core'
import type { QuoteRegistry } from '../../pricing/registry.ts'
import type { PayeePorts } from '../../pricing/routes/mayBePaid.ts'
import { isUniqueViolation } from '../orders/orderStore.ts'
import { type Announce, recheckNow } from '../status/requestProgress.ts'
import { contradictionsOf, type OwnTerms, type SolverTerms } from '../stops/solverTerms.ts'
import { keepSolverStops } from '../stops/stopStore.ts'
import { keepTerms, namelessSolver } from '../stops/termsStore.ts'
import { pageOf, readOpenLanes } from './openWork.ts'
import { redirectRefund } from './redirectRefund.ts'
import { keepExposure, type SolverExposure } from './solverExposure.ts'
import { sweepPayloadSchema, type WorkItem } from './workItem.ts'
import { isOfStoppedChain, isTaken, keepWait, lockWork, readWork, updateWork } from './workStore.ts'

/** There is no work item with this id. */
export class UnknownWorkError extends DomainError {
  readonly code = 'WORK_NOT_FOUND'
  readonly kind = 'not_found'

  constructor() {
    super('There is no work item with this id.')
  }
}

/** The item was done, given up or reported with another transaction, or an operator stopped its chain. */
class WorkNotOpenError extends DomainError {
  readonly code = 'WORK_NOT_OPEN'
  readonly kind = 'conflict'

  constructor(state: WorkItem['state'] | 'withheld' | 'stopped') {
    super(`The work item is ${state}: do not broadcast anything for it.`, { data: { state } })
  }
}

/** The transaction was reported for another item; each transaction counts for one item only. */
class TransactionTakenError extends DomainError {
  readonly code = 'TRANSACTION_TAKEN'
  readonly kind = 'conflict'

  constructor() {
    super('The transaction was reported for another work item: broadcast nothing for this one with it.')
  }
}

/** Check that withholds items from solvers while an account that they pay is denied. */
export interface Withholding {
  /** True if a deny list is configured. */
  readonly hasList: boolean
  /** Finds those of the open items that pay a denied account, and withholds them. @returns their ids */
  denied(items: readonly WorkItem[]): Promise<ReadonlySet<string>>
  /** Withholds an item because the solver's own deny list names an account. */
  withhold(id: string): Promise<void>
}

/** A solver's report about itself when it asks for work. It expires after a minute without another one. */
export type SolverStatement = {
  /** Ids of chains on which it pays nothing at present. */
  readonly stopped: readonly number[]
  /** Name of the solver; without one its terms are compared but not stored. */
  readonly name: string | undefined
  /** Terms by which it fills; undefined if it reports none. */
  readonly terms: SolverTerms | undefined
  /** Its payments that no oracle attested yet. */
  readonly exposure: readonly SolverExposure[]
}

/** Options of `SolverWork.report`. */
type ReportOptions = { readonly replaces?: string | undefined; readonly validUntil?: number | undefined }

/** Actions of a solver on work items, behind the routes of work. None of them moves a request, for only chain facts do. */
export interface SolverWork {
  /** Open items for a solver, without those that pay a denied account. */
  list(limit: number): Promise<readonly WorkItem[]>
  /** Stores what a solver reports about itself. @returns the orders that it would refuse, in words */
  hear(statement: SolverStatement): Promise<string[]>
  /**
   * Reports the transaction that a solver is about to broadcast for an item. A repeated report changes nothing.
   * @param options.replaces the transaction reported before; both have the same nonce, and the new one is followed
   * @param options.validUntil Unix seconds after which the contract refuses the transaction, so that the item can be
   * offered again
   * @throws UnknownWorkError, WorkNotOpenError, TransactionTakenError, InvalidTransactionIdError of the item's chain
   */
  report(id: string, txHash: string, options?: ReportOptions): Promise<void>
  /**
   * Reports that the solver cannot do an item, which is offered again later, up to a limit. A claim may also
   * fail after its report, if its transaction can have no effect any more. If the solver's own deny list is
   * the reason, the item is withheld instead; a refund whose account cannot be paid is offered again for the
   * order's second account.
   * @throws UnknownWorkError, WorkNotOpenError
   */
  fail(id: string, reason: string): Promise<void>
  /**
   * Reports why the solver has not begun an open item yet. It counts as no attempt, and an earlier failure stays its reason.
   * @throws UnknownWorkError, WorkNotOpenError
   */
  wait(id: string, reason: string): Promise<void>
}

const retryFirstMs = 2_000
const retryMaxMs = 300_000
const retriesMax: Readonly<Record<WorkItem['kind'], number>> = {
  fill: 3,
  refund: 20,
  permit: 3,
  sweep: 20,
  claim: 20,
  // Nothing else brings a deposit of an order that was given up to the hub.
  recovery: Number.POSITIVE_INFINITY,
}

/** Pause after `attempts` failed attempts; `undefined` if no further one is allowed. */
export function retryDelayMs(kind: WorkItem['kind'], attempts: number): number | undefined {
  if (attempts > retriesMax[kind]) return undefined
  return Math.min(retryFirstMs * 2 ** (attempts - 1), retryMaxMs)
}

type WorkOptions = {
  readonly database: SqlDatabase
  readonly registry: Pick<QuoteRegistry, 'chainById'>
  /** Checks with the chain whether an account can be paid, for a refund that a solver cannot pay. */
  readonly payees: PayeePorts
  readonly own: OwnTerms
  readonly withholding: Withholding
  /** Called when a solver asks for work. */
  readonly noteSight: () => Promise<void>
  /** Called after reports, so that the jobs of settlement look at once. */
  readonly onChange: () => void
  readonly announce: Announce
}

export const createSolverWork = (options: WorkOptions): SolverWork => new StoredWork(options)

class StoredWork implements SolverWork {
  readonly #options: WorkOptions

  constructor(options: WorkOptions) {
    this.#options = options
  }

  async list(limit: number): Promise<readonly WorkItem[]> {
    const { database, withholding } = this.#options
    const items = pageOf(await readOpenLanes(database, limit), limit)
    const denied = await withholding.denied(items)
    return denied.size === 0 ? items : items.filter(({ id }) => !denied.has(id))
  }

  async hear({ stopped, name, terms, exposure }: SolverStatement): Promise<string[]> {
    const { database, noteSight } = this.#options
    await keepSolverStops(database, stopped)
    await noteSight()
    // A nameless solver without terms is stored, so that its chains count as unknown and not as unpaid.
    if (name !== undefined || terms === undefined) await keepTerms(database, name ?? namelessSolver, terms)
    await keepExposure(database, exposure)
    return terms === undefined ? [] : contradictionsOf(this.#options.own, terms).map(({ text }) => text)
  }

  async report(
    id: string,
    reportedId: string,
    { replaces: replacedId, validUntil }: ReportOptions = {},
  ): Promise<void> {
    const { database, onChange } = this.#options
    await this.#refuseDenied(id)
    await database.transaction(async (tx) => {
      const item = await lockWork(tx, id)
      if (item === undefined) throw new UnknownWorkError()
      // A recovery is reported with an execution key of the hub instead of a transaction id.
      const txHash =
        item.kind === 'recovery' ? reportedId.toLowerCase() : this.#canonicalId(item.chainId, reportedId)
      const replaces = replacedId === undefined ? undefined : this.#canonicalId(item.chainId, replacedId)
      if (item.txHash === txHash && (item.state === 'reported' || item.state === 'done')) return
      // Once reported, an item takes only a report that replaces its transaction.
      const isReplaced = item.state === 'reported' && replaces !== undefined && replaces === item.txHash
      if (item.state !== 'open' && !isReplaced) throw new WorkNotOpenError(item.state)
      // Replacements are taken in any case, because the transaction before them is out already.
      if (item.isWithheld && !isReplaced) throw new WorkNotOpenError('withheld')
      if (!isReplaced && (await isOfStoppedChain(tx, id))) throw new WorkNotOpenError('stopped')
      if (await isTaken(tx, item.chainId, txHash)) throw new TransactionTakenError()
      // 0 stands for no replaced transaction, so that only the end of the new one counts.
      const replacedEnd = isReplaced ? item.validUntilSeconds : 0
      await markReported(tx, id, { txHash, validUntilSeconds: latestEnd(replacedEnd, validUntil) })
      if (item.requestId !== undefined) await this.#showProgress(tx, item.requestId)
    })
    onChange()
  }

  async wait(id: string, reason: string): Promise<void> {
    const { database } = this.#options
    await requireOpen(database, id)
    await keepWait(database, id, reason)
  }

  async fail(id: string, reason: string): Promise<void> {
    const { database, withholding, onChange } = this.#options
    if (reason.startsWith(blockedWallet)) {
      await requireOpen(database, id)
      await withholding.withhold(id)
      return
    }
    const offered = await readWork(database, id)
    const redirected =
      offered?.state === 'open' ? await redirectRefund(this.#options, offered, reason) : undefined
    await database.transaction(async (tx) => {
      const item = await lockWork(tx, id)
      if (item === undefined) throw new UnknownWorkError()
      if (item.kind === 'claim' && item.state === 'reported') {
        await updateWork(tx, id, { state: 'failed', reason, delayMs: 0 })
        return
      }
      if (item.state !== 'open') throw new WorkNotOpenError(item.state)
      const attempts = item.attempts + 1
      // The chain was asked without a lock, so the item must not have been tried again since.
      if (redirected !== undefined && item.attempts === offered?.attempts) {
        await updateWork(tx, id, { state: 'open', ...redirected, attempts, delayMs: 0 })
        return
      }
      const delayMs = isFailedSwap(item, reason) ? undefined : retryDelayMs(item.kind, attempts)
      if (delayMs === undefined) await updateWork(tx, id, { state: 'failed', reason, attempts })
      else await updateWork(tx, id, { state: 'open', reason, attempts, delayMs })
      if (item.requestId !== undefined) await this.#showProgress(tx, item.requestId)
    })
    onChange()
  }

  /** Shows a transaction that was sent, or its failure, in the status at once. */
  async #showProgress(tx: SqlTx, requestId: Hex): Promise<void> {
    await recheckNow(tx, requestId)
    await this.#options.announce(tx, requestId)
  }

  #canonicalId(chainId: number, transactionId: string) {
    const { registry } = this.#options
    return registry.chainById.get(chainId)?.codec.canonicalTransactionId(transactionId) ?? transactionId
  }

  /**
   * Refuses the report of an item whose account was denied after it was fetched. A solver broadcasts only after its
   * report, so nothing is paid.
   */
  async #refuseDenied(id: string): Promise<void> {
    const { database, withholding } = this.#options
    if (!withholding.hasList) return
    const item = await readWork(database, id)
    if (item?.state === 'open' && (await withholding.denied([item])).has(id))
      throw new WorkNotOpenError('withheld')
  }
}

/** @throws UnknownWorkError, WorkNotOpenError */
async function requireOpen(database: SqlDatabase, id: string): Promise<void> {
  const item = await readWork(database, id)
  if (item === undefined) throw new UnknownWorkError()
  if (item.state !== 'open') throw new WorkNotOpenError(item.state)
}

/** True if a sweep's swap reverted. It is not tried again, because its price is gone and the payment is quoted anew. */
function isFailedSwap({ kind, payload }: WorkItem, reason: string): boolean {
  if (kind !== 'sweep' || !reason.startsWith(executionReverted)) return false
  const sweep = sweepPayloadSchema.parse(payload)
  return 'swap' in sweep && sweep.swap !== undefined
}

/** End of validity of a transaction and its replacement, as either may be mined; null if one of them has no end. */
function latestEnd(replaced: number | undefined, reported: number | undefined): number | null {
  return replaced === undefined || reported === undefined ? null : Math.max(replaced, reported)
}

/** Stores the report. A unique index refuses concurrent reports of one transaction for several items. */
async function markReported(
  tx: SqlTx,
  id: string,
  reported: { readonly txHash: string; readonly validUntilSeconds: number | null },
): Promise<void> {
  try {
    await updateWork(tx, id, { state: 'reported', ...reported, delayMs: 0 })
  } catch (error) {
    throw isUniqueViolation(error) ? new TransactionTakenError() : error
  }
}
