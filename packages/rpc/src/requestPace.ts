import { setMaxListeners } from 'node:events'

const secondMs = 1_000
/** A refusal lowers the rate to this share of what was sent, at least the slowest; without refusals it grows again. */
const keptShare = 0.8
const slowestPerSecond = 3
/** Without refusals the rate grows by this factor each time; above `endsAbove` a second the limit ends. */
const growth = { factor: 1.5, everyMs: 20_000, endsAbove: 1_000 }

/** Queues before an endpoint that limits its rate, by precedence. @source F-65 */
const lines = ['work', 'prices', 'questions'] as const

/** Queue of a call: the service's own work, its prices, or questions for callers' requests. */
export type Line = (typeof lines)[number]

/** Time that a request may wait for its turn, and its queue. */
export type Turn = {
  /** Milliseconds since the epoch. */
  readonly deadlineMs: number
  readonly signal?: AbortSignal | undefined
  /** Default: `work`. */
  readonly line?: Line | undefined
}

/** A request that waits; `settle(false)`: its turn would come too late. */
type Waiter = { readonly deadlineMs: number; readonly settle: (isDue: boolean) => void }

/**
 * Limits requests per second to an endpoint's rate, learnt from refusals; unlimited before. The caller waits
 * for a `turn` only while `isLimited`, and calls `sent` for each request and `refused` for each rate limit.
 * @source F-63
 */
export class RequestPace {
  readonly #now: () => number
  readonly #waiting: Readonly<Record<Line, Set<Waiter>>> = {
    work: new Set(),
    prices: new Set(),
    questions: new Set(),
  }
  #perSecond = Number.POSITIVE_INFINITY
  /** Time of the last refusal that lowered the rate. */
  #refusedAtMs = Number.NEGATIVE_INFINITY
  /** Time from which the rate has been quiet: of the last change, up or down. */
  #changedAtMs = Number.NEGATIVE_INFINITY
  /** Time from which the next waiting request may be sent. */
  #nextAtMs = 0
  /** Times of the requests of about the last second, by which a refusal sets the rate. */
  #sentAtMs: number[] = []
  #timer: NodeJS.Timeout | undefined

  /** @param now milliseconds of a clock that is never set */
  constructor(now: () => number) {
    this.#now = now
  }

  get isLimited(): boolean {
    return Number.isFinite(this.#perSecond)
  }

  /** Counts a sent request. */
  sent(): void {
    const nowMs = this.#now()
    while (nowMs - (this.#sentAtMs[0] ?? nowMs) >= secondMs) this.#sentAtMs.shift()
    this.#sentAtMs.push(nowMs)
  }

  /** Lowers the rate. Further refusals within a second are ignored: they belong to requests that were already sent. */
  refused(): void {
    const nowMs = this.#now()
    if (nowMs - this.#refusedAtMs < secondMs) return
    const recent = this.#sentAtMs.filter((ms) => nowMs - ms < secondMs).length
    this.#perSecond = Math.max(slowestPerSecond, keptShare * Math.min(this.#perSecond, recent))
    this.#refusedAtMs = nowMs
    this.#changedAtMs = nowMs
    this.#refuseLate()
  }

  /**
   * Waits until the request may be sent. @returns false as soon as its turn is known to come after the deadline; it
   * then leaves the queue
   */
  turn({ deadlineMs, signal, line = 'work' }: Turn): Promise<boolean> {
    // The sending itself reports the abort.
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
      // One signal may have many requests; Node warns of a leak above ten listeners.
      if (signal !== undefined) setMaxListeners(0, signal)
      signal?.addEventListener('abort', leave, { once: true })
      waiting.add(waiter)
      this.#refuseLate()
      this.#serve()
    })
  }

  /** Releases requests that are due, and sets a timer for the next one. */
  #serve(): void {
    if (this.#timer !== undefined) return
    for (;;) {
      const first = firstIn(this.#waiting)
      if (first === undefined) return
      const waitMs = this.#nextAtMs - this.#now()
      if (waitMs > 0) {
        this.#timer = setTimeout(() => {
          this.#timer = undefined
          // The timer has waited for the turn, even if it fired a little before `#nextAtMs`.
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
