import { blockedWallet } from '@causeway/chains'
import { DomainError, executionReverted, type Hex, type SqlDatabase, type SqlTx } from '@causeway/core'
import { findCurrency, type QuoteRegistry } from '../../pricing/registry.ts'
import { type PayeePorts, refusalOf } from '../../pricing/routes/mayBePaid.ts'
import { isUniqueViolation } from '../orders/orderStore.ts'
import { type Announce, recheckNow } from '../status/requestProgress.ts'
import { contradictionsOf, type OwnTerms, type SolverTerms } from '../stops/solverTerms.ts'
import { keepSolverStops } from '../stops/stopStore.ts'
import { keepTerms, namelessSolver } from '../stops/termsStore.ts'
import { keepExposure, type SolverExposure } from './solverExposure.ts'
import { type RefundPayload, refundPayloadSchema, sweepPayloadSchema, type WorkItem } from './workItem.ts'
import {
  isOfStoppedChain,
  isTaken,
  keepWait,
  lockWork,
  pageOf,
  readOpenLanes,
  readWork,
  updateWork,
} from './workStore.ts'

/** No such item. */
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

/** One transaction does one piece of work. */
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
  /** Finds open items that pay a denied account; they are withheld from then on. @returns their ids */
  denied(items: readonly WorkItem[]): Promise<ReadonlySet<string>>
  /** The solver looks at a list of its own, which denies somebody. */
  withhold(id: string): Promise<void>
}

/** A solver's own words about itself. All of it is forgotten when it was not said for a minute. */
export type SolverStatement = {
  /** Chains on which it pays nothing now. */
  readonly stopped: readonly number[]
  /** Undefined: it has none, and what it says is compared and not kept. */
  readonly name: string | undefined
  /** Undefined: it does not say what it fills with. */
  readonly terms: SolverTerms | undefined
  /** Its payments that no oracle attested yet. */
  readonly exposure: readonly SolverExposure[]
}

type ReportOptions = { readonly replaces?: string | undefined; readonly validUntil?: number | undefined }

/** Actions of a solver on work items. None of them moves a request: only facts of a chain do. */
export interface SolverWork {
  list(limit: number): Promise<readonly WorkItem[]>
  /** Hears what a solver says of itself when it fetches work. @returns what it would refuse, in words */
  hear(statement: SolverStatement): Promise<string[]>
  /**
   * Repeating a report changes nothing.
   * @param said.replaces the transaction that was reported before: of the two, which have one nonce, this one is
   * followed from now on
   * @param said.validUntil Unix seconds; the contract refuses the transaction in a later block, so that somebody
   * else is asked after it
   * @throws UnknownWorkError, WorkNotOpenError, TransactionTakenError, InvalidTransactionIdError of the item's chain
   */
  report(id: string, txHash: string, options?: ReportOptions): Promise<void>
  /**
   * The solver cannot do it: offered again later, up to a limit. Of a claim also behind a report: its
   * transaction can have no effect any more. @throws UnknownWorkError, WorkNotOpenError
   */
  fail(id: string, reason: string): Promise<void>
  /**
   * The solver has not begun an open item, and says why. It is no attempt, and what failed before stays its reason.
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
  recovery: Number.POSITIVE_INFINITY,
}

/** Pause before attempt `attempts + 1`; `undefined` when there is none. */
export function retryDelayMs(kind: WorkItem['kind'], attempts: number): number | undefined {
  if (attempts > retriesMax[kind]) return undefined
  return Math.min(retryFirstMs * 2 ** (attempts - 1), retryMaxMs)
}

type WorkOptions = {
  readonly database: SqlDatabase
  readonly registry: Pick<QuoteRegistry, 'chainById'>
  /** Asks the chain of a refund that a solver cannot pay. */
  readonly payees: PayeePorts
  readonly own: OwnTerms
  readonly withholding: Withholding
  /** Called when a solver asks. */
  readonly noteSight: () => Promise<void>
  /** Called when a settlement may have something to look at. */
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
      // The report of a recovery names a key of the hub.
      const txHash =
        item.kind === 'recovery' ? reportedId.toLowerCase() : this.#spell(item.chainId, reportedId)
      const replaces = replacedId === undefined ? undefined : this.#spell(item.chainId, replacedId)
      if (item.txHash === txHash && (item.state === 'reported' || item.state === 'done')) return
      const isReplaced = item.state === 'reported' && replaces !== undefined && replaces === item.txHash
      if (item.state !== 'open' && !isReplaced) throw new WorkNotOpenError(item.state)
      if (item.isWithheld && !isReplaced) throw new WorkNotOpenError('withheld')
      if (!isReplaced && (await isOfStoppedChain(tx, id))) throw new WorkNotOpenError('stopped')
      if (await isTaken(tx, item.chainId, txHash)) throw new TransactionTakenError()
      const before = isReplaced ? item.validUntilSeconds : 0
      await markReported(tx, id, { txHash, validUntilSeconds: latestEnd(before, validUntil) })
      if (item.requestId !== undefined) await this.#movesOn(tx, item.requestId)
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
    const second = offered?.state === 'open' ? await secondRefund(this.#options, offered, reason) : undefined
    await database.transaction(async (tx) => {
      const item = await lockWork(tx, id)
      if (item === undefined) throw new UnknownWorkError()
      if (item.kind === 'claim' && item.state === 'reported') {
        await updateWork(tx, id, { state: 'failed', reason, delayMs: 0 })
        return
      }
      if (item.state !== 'open') throw new WorkNotOpenError(item.state)
      const attempts = item.attempts + 1
      if (second !== undefined && item.attempts === offered?.attempts) {
        await updateWork(tx, id, { state: 'open', ...second, attempts, delayMs: 0 })
        return
      }
      const delayMs = isOfMovedMarket(item, reason) ? undefined : retryDelayMs(item.kind, attempts)
      if (delayMs === undefined) await updateWork(tx, id, { state: 'failed', reason, attempts })
      else await updateWork(tx, id, { state: 'open', reason, attempts, delayMs })
      if (item.requestId !== undefined) await this.#movesOn(tx, item.requestId)
    })
    onChange()
  }

  /** Shows a transaction that was sent, or its failure, in the status at once. */
  async #movesOn(tx: SqlTx, requestId: Hex): Promise<void> {
    await recheckNow(tx, requestId)
    await this.#options.announce(tx, requestId)
  }

  #spell(chainId: number, transactionId: string) {
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

/** The swap of a sweep has a price at least, and another one is for the quote to find. */
function isOfMovedMarket({ kind, payload }: WorkItem, reason: string): boolean {
  if (kind !== 'sweep' || !reason.startsWith(executionReverted)) return false
  const sweep = sweepPayloadSchema.parse(payload)
  return 'swap' in sweep && sweep.swap !== undefined
}

/**
 * Either a transaction or its replacement may be mined, so the later end counts, and none if one of them has no end.
 */
function latestEnd(before: number | undefined, now: number | undefined): number | null {
  return before === undefined || now === undefined ? null : Math.max(before, now)
}

/** Reports of one transaction for several items may come in one moment: the index lets one through. */
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

/** Refund to the order's second account, with the reason, in words that stay with the work. */
type SecondRefund = { readonly payload: RefundPayload; readonly reason: string }

/**
 * Redirects a refund that a solver cannot pay: it goes to the second account of its order where the first may
 * not be paid, as the service's own endpoints say too.
 * @returns undefined where it stays as it is: the order has one account, the second one is asked for already, or the first
 * may be paid, or nobody says so
 * @source Q-64
 */
async function secondRefund(
  { registry, payees }: { registry: Pick<QuoteRegistry, 'chainById'>; payees: PayeePorts },
  { kind, payload: stored }: WorkItem,
  reason: string,
): Promise<SecondRefund | undefined> {
  if (kind !== 'refund') return undefined
  const payload = refundPayloadSchema.parse(stored)
  const { chainId, recipient: account, amount } = payload
  const chain = registry.chainById.get(chainId)
  const currency = chain && findCurrency(chain, payload.currency)
  const [first, second] = payload.order?.inputs[0]?.refunds ?? []
  if (chain === undefined || currency === undefined || first === undefined || second === undefined)
    return undefined
  if (chain.codec.spellAddress(first.recipient) !== chain.codec.spellAddress(account)) return undefined
  const refusal = await refusalOf(payees, {
    ...{ what: 'refund', chain, account, currency, amount: BigInt(amount) },
    ...{ makesState: false, isNamed: true },
  })
  if (refusal === undefined || refusal === 'silent') return undefined
  return {
    payload: { ...payload, recipient: second.recipient },
    reason: `${account} ${refusal.why}; refunded to ${second.recipient} instead (${reason})`,
  }
}
