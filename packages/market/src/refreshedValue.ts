import { lateError } from '@causeway/core'
import type { Clock } from './ports.ts'

/** One loaded value. `asOfMs` is when its load began: the value is at least as new as that. */
export type Sample<T> = { readonly value: T; readonly asOfMs: number }

/** State of a refreshed value. Past its hard age a value is not handed out at all. */
export type RefreshReading<T> =
  | ({ readonly state: 'fresh' | 'stale' } & Sample<T>)
  | { readonly state: 'expired'; readonly asOfMs: number }
  | { readonly state: 'empty' }

export type RefreshOptions<T> = {
  /** Reads the value once. `signal` is aborted at the time limit and on close. */
  readonly load: (signal: AbortSignal) => Promise<T>
  readonly intervalMs: number
  readonly timeoutMs: number
  /** Older values are `stale`: usable, and a sign that refreshing fails. */
  readonly softMaxAgeMs: number
  /** Older values are `expired`. */
  readonly hardMaxAgeMs: number
  /** The delay doubles with each failure up to this, but is at least the interval. Default: no back-off. */
  readonly backoffMaxMs?: number
  readonly clock: Clock
  /** 0 ≤ random() < 1. Spreads refreshes by ±10 %, so that values are not loaded all at once. */
  readonly random: () => number
  readonly onLoaded?: (sample: Sample<T>) => void
  /** Asked after each load: true brings the next one forward to a quarter of the interval. */
  readonly isUrgent?: () => boolean
  readonly onFailed?: (error: unknown, consecutiveFailures: number) => void
}

/**
 * A value that is loaded again and again in the background: the reading of a chain or a price service. After
 * `start` there is always either a load under way or a timer for the next one. `hasten` moves that timer;
 * during a load it makes the pause after it shorter. `refresh` loads beside the timer and leaves it as it is.
 */
export class RefreshedValue<T> {
  readonly #options: RefreshOptions<T>
  readonly #closing = new AbortController()
  /** The load under way. */
  #flight: Promise<boolean> | undefined
  #newest: Sample<T> | undefined
  #failures = 0
  /** Set while the timer for the next load runs. */
  #cancelTimer: (() => void) | undefined
  /** Begin of the last load by timer, by the clock that is never set. */
  #startedAtMs = Number.NEGATIVE_INFINITY
  /** True if `hasten` was called since the last load began: that load may not contain the news. */
  #isHastened = false

  constructor(options: RefreshOptions<T>) {
    this.#options = options
  }

  /** Loads now and then again and again until `close`. */
  start(): void {
    if (!this.#closing.signal.aborted) void this.#refreshAndPlanNext()
  }

  /** The newest value and its state, from memory. */
  read(): RefreshReading<T> {
    if (this.#newest === undefined) return { state: 'empty' }
    const { clock, softMaxAgeMs, hardMaxAgeMs } = this.#options
    const { asOfMs } = this.#newest
    const ageMs = clock.now() - asOfMs
    if (ageMs > hardMaxAgeMs) return { state: 'expired', asOfMs }
    return { state: ageMs > softMaxAgeMs ? 'stale' : 'fresh', ...this.#newest }
  }

  consecutiveFailures(): number {
    return this.#failures
  }

  /** Loads now, or joins the load that is under way. True when it delivered a value. */
  refresh(): Promise<boolean> {
    return this.#closing.signal.aborted ? Promise.resolve(false) : this.#join()
  }

  /**
   * Brings the next load forward, because there may be news: to a quarter of the interval after the last load
   * began, or to now if that is past.
   */
  hasten(): void {
    this.#isHastened = true
    if (this.#closing.signal.aborted || this.#cancelTimer === undefined) return
    this.#cancelTimer()
    const { clock, intervalMs } = this.#options
    this.#planNext(Math.max(this.#startedAtMs + intervalMs / 4 - clock.steadyNow(), 0))
  }

  /** Stops the timer and aborts a load under way; its result is dropped. */
  close(): void {
    this.#closing.abort()
    this.#cancelTimer?.()
  }

  async #refreshAndPlanNext(): Promise<void> {
    const { clock, intervalMs, backoffMaxMs = intervalMs, isUrgent, random } = this.#options
    this.#startedAtMs = clock.steadyNow()
    this.#isHastened = false
    await this.#join()
    if (this.#closing.signal.aborted) return
    const backedOffMs = Math.min(intervalMs * 2 ** Math.min(this.#failures, 16), backoffMaxMs)
    const hasteFactor = this.#isHastened || isUrgent?.() === true ? 0.25 : 1
    const periodMs = Math.max(backedOffMs, intervalMs) * hasteFactor * (0.9 + 0.2 * random())
    // The time of the load counts, but at least a quarter of the period remains as a pause.
    const delayMs = Math.max(periodMs - (clock.steadyNow() - this.#startedAtMs), periodMs / 4)
    this.#planNext(delayMs)
  }

  #planNext(delayMs: number): void {
    this.#cancelTimer = this.#options.clock.after(delayMs, () => {
      this.#cancelTimer = undefined
      void this.#refreshAndPlanNext()
    })
  }

  #join(): Promise<boolean> {
    this.#flight ??= this.#load().finally(() => {
      this.#flight = undefined
    })
    return this.#flight
  }

  async #load(): Promise<boolean> {
    const { clock, onLoaded, onFailed } = this.#options
    const { signal } = this.#closing
    const asOfMs = clock.now()
    try {
      const value = await withinTimeLimit(this.#options, signal)
      if (signal.aborted) return false
      this.#failures = 0
      this.#newest = { value, asOfMs }
      onLoaded?.(this.#newest)
      return true
    } catch (error) {
      if (signal.aborted) return false
      this.#failures += 1
      onFailed?.(error, this.#failures)
      return false
    }
  }
}

/** Loads with a time limit. Rejects at the limit even if `load` ignores its signal, so that the next load can begin. */
function withinTimeLimit<T>(options: RefreshOptions<T>, closing: AbortSignal): Promise<T> {
  const { clock, load, timeoutMs } = options
  const limit = new AbortController()
  return new Promise<T>((resolve, reject) => {
    const stop = (reason: Error) => {
      release()
      limit.abort(reason)
      reject(reason)
    }
    const onClose = () => stop(new Error('the value is no longer refreshed'))
    const cancelTimer = clock.after(timeoutMs, () => stop(lateError(timeoutMs)))
    const release = () => {
      cancelTimer()
      closing.removeEventListener('abort', onClose)
    }
    closing.addEventListener('abort', onClose, { once: true })
    load(limit.signal).then(resolve, reject).finally(release)
  })
}
