import {
  canonicalJson,
  type Execution,
  type Hex,
  type ReadOptions,
  sha256TextHex,
  startDeadline,
  whenAborted,
} from '@causeway/core'
import {
  type CapTable,
  type CapVerdict,
  type CountedValue,
  type Excess,
  type HeldStore,
  noHeldStore,
  type SigningCaps,
} from '@causeway/signer'
import type { Payout } from '../attestations/context.ts'
import type { WatchLog } from '../halt/watchedChain.ts'
import { valueLetOut } from './valueLetOut.ts'

/** An answer that is about to be signed: an execution, or payload parameters with their payout. Without both it moves no value. */
export type Signing = {
  readonly kind: string
  readonly execution: Execution | undefined
  readonly payout: Payout | undefined
}

/** The last check before a signature that lets value out: signing caps, and executions held for the operator. */
export interface SigningGuard {
  /** Counts the value, once per key. @returns false: it is held and must not be signed. @throws RangeError for unreadable actions */
  admit(signing: Signing, options: ReadOptions): Promise<boolean>
  /** Reads what is held, by earlier runs and other processes too. */
  refresh(): Promise<void>
}

/** `SigningCaps` of one process, or `SharedCaps` of several, which answer later. */
export interface CountedCaps {
  judge(value: CountedValue): CapVerdict | Promise<CapVerdict>
  admit(value: CountedValue): CapVerdict | Promise<CapVerdict>
  exempt(value: CountedValue): void | Promise<void>
  usage(): ReturnType<SigningCaps['usage']>
}

/** Why an execution is held; `overdrawn`: see `ValueLetOut.isOverdrawn`. */
export type HeldReason = Excess['reason'] | 'overdrawn'

export type GuardMetrics = {
  /** `settled`: other deposits were settled by the same payments, see `SettledOrders`. */
  countHeld(kind: string, reason: HeldReason | 'settled'): void
  countReleased(kind: string): void
  /** Registers the number of held executions, read when it is scraped. */
  watchHeld(read: () => number): void
  /** Registers caps and the amounts signed within the hour, read when they are scraped. */
  watchCaps(read: CountedCaps['usage']): void
}

export type SigningGuardOptions = {
  readonly caps: CountedCaps
  readonly table: CapTable
  readonly held?: Pick<HeldStore, 'keep' | 'isReleased' | 'forget' | 'list'>
  /** True if the hub has run an execution already: signing it again releases no value. */
  readonly isExecuted: (key: Hex, options: ReadOptions) => Promise<boolean>
  readonly metrics: GuardMetrics
  readonly log: WatchLog
  /** Milliseconds since 1970. */
  readonly now: () => number
}

/** Guard without caps, for `local` alone. */
export const noGuard: SigningGuard = { admit: async () => true, refresh: async () => undefined }

const hubTimeoutMs = 1_500
/** Most held executions that are remembered, logged once and stored; further ones are only counted. */
const waitingMax = 10_000

export const createSigningGuard = (options: SigningGuardOptions): SigningGuard =>
  new CountingGuard({ held: noHeldStore, ...options })

type GuardOptions = Required<SigningGuardOptions>

/**
 * Decides in this order. What moves no value is signed. An overdrawn execution is held, unless its key was
 * counted before. Any other is counted and signed if its caps have room, else held; but before it uses more
 * than half of a cap the hub is asked, and what the hub has run already is signed uncounted. What is held is
 * signed after all, uncounted, if the operator released exactly it.
 */
class CountingGuard implements SigningGuard {
  readonly #options: GuardOptions
  /** Ids of all held executions that this process knows: its own, and those that the store listed. */
  readonly #waiting = new Set<string>()
  /** Ids that the held store listed at the last refresh. */
  #listed: ReadonlySet<string> = new Set()
  /** Ids of held executions that could not be stored yet: operators cannot see or release them. */
  readonly #unwritten = new Set<string>()

  constructor(options: GuardOptions) {
    const { caps, metrics } = options
    this.#options = options
    metrics.watchCaps(() => caps.usage())
    metrics.watchHeld(() => this.#waiting.size)
  }

  async admit(signing: Signing, reading: ReadOptions): Promise<boolean> {
    const { caps, held } = this.#options
    const movedValue = valueMovedBy(signing)
    if (movedValue === undefined) return true
    const { value, isOverdrawn } = movedValue
    const capVerdict = await caps.judge(value)
    // An overdrawn execution is never counted: the operator decides, unless it was signed before.
    const isHeldAsOverdrawn = isOverdrawn && capVerdict.kind !== 'free'
    const reason = isHeldAsOverdrawn ? 'overdrawn' : await this.#count(signing, value, capVerdict, reading)
    if (reason === undefined) {
      await this.#forgetHeld(signing)
      return true
    }
    const id = idOf(signing)
    if (await held.isReleased(id)) {
      await this.#release(id, signing, value)
      return true
    }
    await this.#hold(id, signing, value, reason)
    return false
  }

  async refresh(): Promise<void> {
    const { held } = this.#options
    const ids = new Set((await held.list()).keys())
    // An id that is no longer listed was signed. One that was never listed stays, because it may not be
    // stored yet.
    for (const id of this.#listed) this.#waiting.delete(id)
    for (const id of ids) this.#waiting.add(id)
    this.#listed = ids
  }

  /** True if the hub has run the execution already. */
  async #isSettled({ execution }: Signing, { signal }: ReadOptions): Promise<boolean> {
    const { isExecuted } = this.#options
    if (execution === undefined) return false
    const deadline = startDeadline(signal, hubTimeoutMs)
    try {
      const asking = isExecuted(execution.idempotencyKey, { signal: deadline.signal })
      return await Promise.race([asking, whenAborted(deadline.signal)])
    } catch {
      // The hub did not answer, so the execution is counted as one that it has not run.
      return false
    } finally {
      deadline.release()
    }
  }

  /** Counts the value by its caps. @returns why it is held, `undefined` where it may be signed */
  async #count(
    signing: Signing,
    value: CountedValue,
    capVerdict: CapVerdict,
    reading: ReadOptions,
  ): Promise<HeldReason | undefined> {
    const { caps } = this.#options
    // Executions that the hub has run are exempt, or callers could use up a cap with old settlements. The hub is asked
    // only in the upper half of a cap, to save its readings.
    const isUpper = capVerdict.kind === 'upper' || capVerdict.kind === 'held'
    if (isUpper && (await this.#isSettled(signing, reading))) {
      await caps.exempt(value)
      return undefined
    }
    const admitted = await caps.admit(value)
    return admitted.kind === 'held' ? admitted.excess.reason : undefined
  }

  /** Texts of the amounts, for operators. */
  #describe({ amounts }: CountedValue): readonly string[] {
    const { table } = this.#options
    return [...amounts].map(([hubTokenId, amount]) => {
      const cap = table.get(hubTokenId)
      return `${amount} of ${cap === undefined ? `hub token ${hubTokenId}` : `${cap.chain} ${cap.currency}`}`
    })
  }

  async #release(id: string, { kind }: Signing, value: CountedValue): Promise<void> {
    const { caps, metrics, log } = this.#options
    await caps.exempt(value)
    await this.#forget(id)
    metrics.countReleased(kind)
    const fields = { event: 'execution_released', kind, id, key: value.key, lets: this.#describe(value) }
    log.warn(fields, 'signed what the operator released')
  }

  /** Forgets that an execution was held, as it may be signed now. */
  async #forgetHeld(signing: Signing): Promise<void> {
    // Mostly nothing waits: then the id need not be hashed.
    if (this.#waiting.size === 0) return
    const id = idOf(signing)
    if (this.#waiting.has(id)) await this.#forget(id)
  }

  async #forget(id: string): Promise<void> {
    const { held } = this.#options
    this.#waiting.delete(id)
    this.#unwritten.delete(id)
    await held.forget(id)
  }

  /**
   * Counts every request that is held. The first one of an execution is logged and stored; if the store did
   * not take it, each later one tries again. Beyond `waitingMax` new executions are neither remembered nor
   * stored.
   */
  async #hold(id: string, { kind }: Signing, value: CountedValue, reason: HeldReason): Promise<void> {
    const { held, metrics, log, now } = this.#options
    metrics.countHeld(kind, reason)
    const isNew = !this.#waiting.has(id)
    if (isNew && this.#waiting.size >= waitingMax) return
    // The execution is stored already.
    if (!isNew && !this.#unwritten.has(id)) return
    this.#waiting.add(id)
    const { key } = value
    const record = { kind, key, lets: this.#describe(value), reason, since: new Date(now()).toISOString() }
    if (isNew) log.warn({ event: 'execution_held', id, ...record }, 'an execution waits for the operator')
    try {
      await held.keep(id, record)
      this.#unwritten.delete(id)
    } catch (error) {
      this.#unwritten.add(id)
      log.error(
        { event: 'held_not_kept', id, err: error },
        'what is held could not be written where operators see it',
      )
    }
  }
}

/** The value of what is about to be signed; `undefined` where it moves none. */
function valueMovedBy({
  execution,
  payout,
}: Signing): { readonly value: CountedValue; readonly isOverdrawn: boolean } | undefined {
  if (execution !== undefined) {
    const { amounts, isOverdrawn } = valueLetOut(execution.actions)
    return { value: { key: execution.idempotencyKey, amounts }, isOverdrawn }
  }
  if (payout === undefined) return undefined
  const { key, hubTokenId, amount } = payout
  return { value: { key, amounts: new Map([[hubTokenId, amount]]) }, isOverdrawn: false }
}

/** Id of exactly what is to be signed, so that an operator's release covers nothing else. */
function idOf({ execution, payout }: Signing): string {
  if (execution !== undefined) {
    const { idempotencyKey, actions } = execution
    return sha256TextHex(canonicalJson({ idempotencyKey, actions }))
  }
  const moved = payout && [payout.key, String(payout.hubTokenId), String(payout.amount)]
  return sha256TextHex(canonicalJson({ moved }))
}
