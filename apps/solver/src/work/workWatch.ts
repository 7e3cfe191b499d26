import { setTimeout as sleep } from 'node:timers/promises'
import type { WorkSource } from './workClient.ts'
import type { WorkItem } from './workItems.ts'

/**
 * Open work, with little delay: one long poll always waits at quote-api, and a round uses its answer instead of listing the
 * work again.
 */
export type WorkWatch = {
  /** Open items, oldest first: those of a fresh answer to the long poll, else as the service lists them now. */
  open(): Promise<readonly WorkItem[]>
  /** True while the service holds a long poll of this solver, so that the solver hears of every new item. */
  isTold(): boolean
  close(): Promise<void>
}

/** Longest wait of a long poll. The service itself holds one for 25 s at most. */
const waitMs = 20_000
const limits = {
  /** Least pause between an answer and the next request. */
  leastMs: 100,
  /** Pause after a failure, or an early answer without news; doubled after each further one, up to `pauseMaxMs`. */
  firstPauseMs: 1_000,
  pauseMaxMs: 15_000,
  /** Interval at which a service that does not hold requests is tried again: it may have been upgraded. */
  olderReleaseMs: 60_000,
  /** Maximum age of an answer that a round uses; after it the work is listed anew. */
  freshMs: 1_000,
}

/**
 * Keeps a long poll waiting at the service until it is closed, and calls `onTold` at each answer with news. Answers need
 * not be trusted: requests are `leastMs` apart at least, and each item is judged like any other.
 */
export const watchWork = (options: WorkWatchOptions): WorkWatch => new LongPoll(options)

type WorkWatchOptions = {
  readonly work: Pick<WorkSource, 'open' | 'offered'>
  readonly onTold: () => void
  readonly nowMs: () => number
}

/**
 * `#ask` makes one long poll after the other; `open` serves rounds between them. A round gets the items of
 * the last answer with news, once and while they are fresh. Otherwise it lists the work, unless a poll is
 * held and no item is open: its answer would bring a new one.
 *
 * `#isHeld` is true after an answer that came late or with news. It is false before the first answer, after a
 * failure, after an early answer without news, and while an older release answers without a cursor.
 */
class LongPoll implements WorkWatch {
  readonly #options: WorkWatchOptions
  readonly #closing = new AbortController()
  readonly #ended: Promise<void>
  /** Cursor of the last answer; undefined before the first, and for a service that does not hold requests. */
  #known: string | undefined
  #isHeld = false
  /** Next pause after a failure or an early answer. */
  #pauseMs = limits.firstPauseMs
  /** Items of the last answer with news; taken by the next round. */
  #news: { readonly items: readonly WorkItem[]; readonly atMs: number } | undefined
  /** True if the last answer or list had an item: then each round lists the work, because an item may have changed. */
  #hasOpen = true
  /** Answers with a cursor so far: shows a list whether one came while it was read. */
  #answerCount = 0

  constructor(options: WorkWatchOptions) {
    this.#options = options
    this.#ended = this.#follow()
  }

  async open(): Promise<readonly WorkItem[]> {
    const { work, nowMs } = this.#options
    const latest = this.#news
    this.#news = undefined
    if (latest !== undefined && nowMs() - latest.atMs < limits.freshMs) return latest.items
    if (this.#isHeld && !this.#hasOpen) return []
    const answersBefore = this.#answerCount
    const items = await work.open()
    // An answer of the long poll that came meanwhile may be newer than an empty list.
    if (items.length > 0 || this.#answerCount === answersBefore) this.#hasOpen = items.length > 0
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
      // Rounds list the work too, and report why the service cannot be reached.
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
    // The first request waits for nothing: its answer shows whether the service holds requests, and gives the cursor.
    const offered = await work.offered({ waitMs: known === undefined ? 1 : waitMs, known, signal })
    this.#known = offered.known
    if (offered.known === undefined) {
      this.#isHeld = false
      return limits.olderReleaseMs
    }
    this.#answerCount += 1
    this.#hasOpen = offered.items.length > 0
    // A changed cursor is news.
    if (offered.known !== known) {
      this.#news = { items: offered.items, atMs: nowMs() }
      onTold()
      // Without news before half of the wait: the service does not hold the request.
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
