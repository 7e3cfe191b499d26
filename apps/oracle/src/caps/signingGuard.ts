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

/** Message that is about to be signed, with its value. */
export type Signing = {
  readonly kind: string
  readonly execution: Execution | undefined
  readonly payout: Payout | undefined
}

/** The last line before a signature that lets value out. */
export interface SigningGuard {
  /** Counts it, once, and tells whether it may be signed. @throws RangeError for actions nobody can read */
  admit(signing: Signing, options: ReadOptions): Promise<boolean>
  /** Takes up what earlier runs and other processes hold, and what was signed of it. */
  refresh(): Promise<void>
}

/** Counts of caps, in one process or in several. `admit` judges and counts in one step. See `SigningCaps`. */
export interface CountedCaps {
  judge(value: CountedValue): CapVerdict | Promise<CapVerdict>
  admit(value: CountedValue): CapVerdict | Promise<CapVerdict>
  exempt(value: CountedValue): void | Promise<void>
  usage(): ReturnType<SigningCaps['usage']>
}

/** Reason that an execution is held. */
export type HeldReason = Excess['reason'] | 'overdrawn'

export type GuardMetrics = {
  countHeld(kind: string, reason: HeldReason | 'settled'): void
  countReleased(kind: string): void
  /** Read when scraped: how much waits. */
  watchHeld(read: () => number): void
  /** Read when scraped: what was signed within the hour, and how much may be. */
  watchCaps(read: CountedCaps['usage']): void
}

export type SigningGuardOptions = {
  readonly caps: CountedCaps
  readonly table: CapTable
  readonly held?: Pick<HeldStore, 'keep' | 'isReleased' | 'forget' | 'list'>
  /** True if the hub took an execution already: then signing it again releases no value. */
  readonly isExecuted: (key: Hex, options: ReadOptions) => Promise<boolean>
  readonly metrics: GuardMetrics
  readonly log: WatchLog
  /** Milliseconds since 1970. */
  readonly now: () => number
}

/** Guard without caps, for `local` alone. */
export const openGuard: SigningGuard = { admit: async () => true, refresh: async () => undefined }

const hubTimeoutMs = 1_500
/** Things that wait and are told once; more are counted only. */
const waitingMax = 10_000

export const createSigningGuard = (options: SigningGuardOptions): SigningGuard =>
  new CountingGuard({ held: noHeldStore, ...options })

type GuardOptions = Required<SigningGuardOptions>

class CountingGuard implements SigningGuard {
  readonly #options: GuardOptions
  readonly #waiting = new Set<string>()
  #listed: ReadonlySet<string> = new Set()
  /** Waiting entries that could not be written yet, so that no operator can see or release them. */
  readonly #unwritten = new Set<string>()

  constructor(options: GuardOptions) {
    const { caps, metrics } = options
    this.#options = options
    metrics.watchCaps(() => caps.usage())
    metrics.watchHeld(() => this.#waiting.size)
  }

  async admit(signing: Signing, reading: ReadOptions): Promise<boolean> {
    const { caps, held } = this.#options
    const countedSigning = countedIn(signing)
    if (countedSigning === undefined) return true
    const { value, isOverdrawn } = countedSigning
    const first = await caps.judge(value)
    const isBeyond = isOverdrawn && first.kind !== 'free'
    const reason = isBeyond ? 'overdrawn' : await this.#excessOf(signing, value, first, reading)
    if (reason === undefined && this.#waiting.size === 0) return true
    const id = idOf(signing)
    if (reason === undefined) {
      if (this.#waiting.has(id)) await this.#forget(id)
      return true
    }
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
    for (const id of this.#listed) if (!ids.has(id)) this.#waiting.delete(id)
    for (const id of ids) this.#waiting.add(id)
    this.#listed = ids
  }

  /** True if the hub settled it: a caller must not use up a cap with old settlements. */
  async #isSettled({ execution }: Signing, { signal }: ReadOptions): Promise<boolean> {
    const { isExecuted } = this.#options
    if (execution === undefined) return false
    const deadline = startDeadline(signal, hubTimeoutMs)
    try {
      const asking = isExecuted(execution.idempotencyKey, { signal: deadline.signal })
      return await Promise.race([asking, whenAborted(deadline.signal)])
    } catch {
      // A hub that does not answer settled nothing that we know of: it counts.
      return false
    } finally {
      deadline.release()
    }
  }

  async #excessOf(
    signing: Signing,
    value: CountedValue,
    first: CapVerdict,
    reading: ReadOptions,
  ): Promise<HeldReason | undefined> {
    const { caps } = this.#options
    // The first half of a cap is given on trust, so that what is cheap stays so.
    const isUpper = first.kind === 'upper' || first.kind === 'held'
    if (isUpper && (await this.#isSettled(signing, reading))) {
      await caps.exempt(value)
      return undefined
    }
    return heldBy(await caps.admit(value))
  }

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

  async #forget(id: string): Promise<void> {
    const { held } = this.#options
    this.#waiting.delete(id)
    this.#unwritten.delete(id)
    await held.forget(id)
  }

  async #hold(id: string, { kind }: Signing, value: CountedValue, reason: HeldReason): Promise<void> {
    const { held, metrics, log, now } = this.#options
    metrics.countHeld(kind, reason)
    const isNew = !this.#waiting.has(id)
    if (isNew ? this.#waiting.size >= waitingMax : !this.#unwritten.has(id)) return
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

function heldBy(verdict: CapVerdict): HeldReason | undefined {
  return verdict.kind === 'held' ? verdict.excess.reason : undefined
}

function countedIn({
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

/** Names exactly what is to be signed: what was reviewed is what is released. */
function idOf({ execution, payout }: Signing): string {
  if (execution !== undefined) {
    const { idempotencyKey, actions } = execution
    return sha256TextHex(canonicalJson({ idempotencyKey, actions }))
  }
  const moved = payout && [payout.key, String(payout.hubTokenId), String(payout.amount)]
  return sha256TextHex(canonicalJson({ moved }))
}
