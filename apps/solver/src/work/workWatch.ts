import { setTimeout as sleep } from 'node:timers/promises'
import type { WorkSource } from './workClient.ts'
import type { WorkItem } from './workItems.ts'

/** Work as it is told of, and where it is not, as it is asked for. */
export type WorkWatch = {
  /** Open items, oldest first: as they were told of just now, else as the service lists them. */
  open(): Promise<readonly WorkItem[]>
  /** True while the service holds a question of this solver, so that all offers are heard of. */
  isTold(): boolean
  close(): Promise<void>
}

/** The service holds a question for 25 s at most. */
const waitMs = 20_000
const limits = {
  /** Between an answer and the next question, whatever the answer. */
  leastMs: 100,
  /** After an answer that came early and brought nothing, or none; twice as long after each further one. */
  firstPauseMs: 1_000,
  pauseMaxMs: 15_000,
  /** Interval at which a service that does not hold requests is asked if it does by now. */
  olderReleaseMs: 60_000,
  /** Maximum age of an answer; an older one is asked for anew. */
  freshMs: 1_000,
}

/**
 * Has a question waiting at the service, and tells of each answer that has something new. The service may answer what it
 * likes: it is asked once in `leastMs` at most, and each item is judged like any other.
 */
export const watchWork = (options: WorkWatchOptions): WorkWatch => new HeldQuestion(options)

type WorkWatchOptions = {
  readonly work: Pick<WorkSource, 'open' | 'offered'>
  readonly onTold: () => void
  readonly nowMs: () => number
}

class HeldQuestion implements WorkWatch {
  readonly #options: WorkWatchOptions
  readonly #closing = new AbortController()
  readonly #ended: Promise<void>
  #known: string | undefined
  #isHeld = false
  #pauseMs = limits.firstPauseMs
  #told: { readonly items: readonly WorkItem[]; readonly atMs: number } | undefined
  /** True if an item was open when they were listed last: then the clock triggers questions too. */
  #hasOpen = true
  #tellings = 0

  constructor(options: WorkWatchOptions) {
    this.#options = options
    this.#ended = this.#follow()
  }

  async open(): Promise<readonly WorkItem[]> {
    const { work, nowMs } = this.#options
    const latest = this.#told
    this.#told = undefined
    if (latest !== undefined && nowMs() - latest.atMs < limits.freshMs) return latest.items
    if (this.#isHeld && !this.#hasOpen) return []
    const before = this.#tellings
    const items = await work.open()
    // An answer that came meanwhile may be the newer one.
    if (items.length > 0 || this.#tellings === before) this.#hasOpen = items.length > 0
    return items
  }

  isTold(): boolean {
    return this.#isHeld
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await this.#ended
  }

  async #follow(): Promise<void> {
    const { signal } = this.#closing
    while (!signal.aborted) {
      // Its failures are reported by the regular look at the work.
      const nextMs = await this.#ask().catch(() => this.#pauseLonger())
      await sleep(nextMs, undefined, { signal }).catch(() => undefined)
    }
  }

  /** @returns the pause until the next question */
  async #ask(): Promise<number> {
    const { work, onTold, nowMs } = this.#options
    const { signal } = this.#closing
    const known = this.#known
    const askedAtMs = nowMs()
    const offered = await work.offered({ waitMs: known === undefined ? 1 : waitMs, known, signal })
    this.#known = offered.known
    if (offered.known === undefined) {
      this.#isHeld = false
      return limits.olderReleaseMs
    }
    this.#tellings += 1
    this.#hasOpen = offered.items.length > 0
    if (offered.known !== known) {
      this.#told = { items: offered.items, atMs: nowMs() }
      onTold()
    } else if (nowMs() - askedAtMs < waitMs / 2) return this.#pauseLonger()
    this.#isHeld = true
    this.#pauseMs = limits.firstPauseMs
    return limits.leastMs
  }

  #pauseLonger(): number {
    this.#isHeld = false
    const nextMs = this.#pauseMs
    this.#pauseMs = Math.min(2 * nextMs, limits.pauseMaxMs)
    return nextMs
  }
}
