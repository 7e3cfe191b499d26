import { setMaxListeners } from 'node:events'

const secondMs = 1_000
/** The part of a refused rate that is kept, never less than the slowest; it grows in quiet times, up to no limit. */
const kept = 0.8
const slowest = 3
const growth = { factor: 1.5, everyMs: 20_000, endsAbove: 1_000 }

/** Lines before an endpoint that limits its rate. A turn goes to the first line with a waiting request. @source F-65 */
const lines = ['work', 'prices', 'questions'] as const

/** Origin of a call: the service's own work, its prices, or a request of a caller. */
export type Line = (typeof lines)[number]

export type Turn = {
  /** Milliseconds since the epoch. */
  readonly deadlineMs: number
  readonly signal?: AbortSignal | undefined
  /** Default: `work`. */
  readonly line?: Line | undefined
}

type Waiter = { readonly deadlineMs: number; readonly settle: (isDue: boolean) => void }

/** Requests of one second that an endpoint takes, as its refusals taught it. No limit before the first. @source F-63 */
export class RequestPace {
  readonly #now: () => number
  readonly #waiting: Readonly<Record<Line, Set<Waiter>>> = {
    work: new Set(),
    prices: new Set(),
    questions: new Set(),
  }
  #perSecond = Number.POSITIVE_INFINITY
  #changedAtMs = Number.NEGATIVE_INFINITY
  #nextAtMs = 0
  #sentAtMs: number[] = []
  #timer: NodeJS.Timeout | undefined

  /** @param now milliseconds since the epoch */
  constructor(now: () => number) {
    this.#now = now
  }

  get isLimited(): boolean {
    return Number.isFinite(this.#perSecond)
  }

  sent(): void {
    const nowMs = this.#now()
    while (nowMs - (this.#sentAtMs[0] ?? nowMs) >= secondMs) this.#sentAtMs.shift()
    this.#sentAtMs.push(nowMs)
  }

  /** Refusals of one second are one: what was out already says nothing more. */
  refused(): void {
    const nowMs = this.#now()
    if (nowMs - this.#changedAtMs < secondMs) return
    const recent = this.#sentAtMs.filter((ms) => nowMs - ms < secondMs).length
    this.#perSecond = Math.max(slowest, kept * Math.min(this.#perSecond, recent))
    this.#changedAtMs = nowMs
    this.#refuseLate()
  }

  /**
   * Waits until one more request is due. @returns false, and holds nobody up, as soon as that is known to be after the
   * deadline
   */
  turn({ deadlineMs, signal, line = 'work' }: Turn): Promise<boolean> {
    // An aborted caller reports that itself when it sends.
    if (signal?.aborted) return Promise.resolve(true)
    const nowMs = this.#now()
    const quietTimes = Math.floor((nowMs - this.#changedAtMs) / growth.everyMs)
    if (quietTimes > 0) {
      this.#perSecond *= growth.factor ** quietTimes
      this.#changedAtMs = nowMs
    }
    if (this.#perSecond > growth.endsAbove) this.#perSecond = Number.POSITIVE_INFINITY
    return new Promise((resolve) => {
      const waiting = this.#waiting[line]
      const leave = () => waiter.settle(true)
      const waiter: Waiter = {
        deadlineMs,
        settle(isDue) {
          waiting.delete(waiter)
          signal?.removeEventListener('abort', leave)
          resolve(isDue)
        },
      }
      // One caller may ask for much at once; Node would take more than ten listeners for a leak.
      if (signal !== undefined) setMaxListeners(0, signal)
      signal?.addEventListener('abort', leave, { once: true })
      waiting.add(waiter)
      this.#refuseLate()
      this.#serve()
    })
  }

  /** Releases the due requests, and runs again when the next one is due. */
  #serve(): void {
    if (this.#timer !== undefined) return
    for (;;) {
      const first = firstIn(this.#waiting)
      if (first === undefined) return
      const waitMs = this.#nextAtMs - this.#now()
      if (waitMs > 0) {
        this.#timer = setTimeout(() => {
          this.#timer = undefined
          const next = firstIn(this.#waiting)
          if (next !== undefined) this.#letGo(next)
          this.#serve()
        }, waitMs)
        return
      }
      this.#letGo(first)
    }
  }

  #letGo(waiter: Waiter): void {
    this.#nextAtMs = Math.max(this.#now(), this.#nextAtMs) + secondMs / this.#perSecond
    waiter.settle(true)
  }

  /** Rejects requests that would be due after their deadlines, so that those behind them come sooner. */
  #refuseLate(): void {
    let dueMs = Math.max(this.#now(), this.#nextAtMs)
    for (const line of lines)
      for (const waiter of this.#waiting[line]) {
        if (dueMs >= waiter.deadlineMs) waiter.settle(false)
        else dueMs += secondMs / this.#perSecond
      }
  }
}

function firstIn(waiting: Readonly<Record<Line, ReadonlySet<Waiter>>>): Waiter | undefined {
  for (const line of lines) for (const waiter of waiting[line]) return waiter
  return undefined
}
