import { lateError } from '@causeway/core'
import type { Clock } from './ports.ts'

/** One loaded value. `asOfMs` is when its load began: the value is at least as new as that. */
export type Sample<T> = { readonly value: T; readonly asOfMs: number }

/** What is known of a refreshed value now. Past its hard age a value is not handed out at all. */
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
  /** After failures the delay doubles up to this. Default: no back-off. */
  readonly backoffMaxMs?: number
  readonly clock: Clock
  /** 0 ≤ random() < 1: spreads refreshes by ±10 % so that values do not fire together. */
  readonly random: () => number
  readonly onLoaded?: (sample: Sample<T>) => void
  /** Asked after each load: true brings the next one forward to a quarter of the interval. */
  readonly isUrgent?: () => boolean
  readonly onFailed?: (error: unknown, consecutiveFailures: number) => void
}

/** A value that is refreshed in the background. @source pricing-engine.md 6.1 */
export type RefreshedValue<T> = {
  /** Loads now and then again and again until `close`. */
  start(): void
  /** Never does I/O. */
  read(): RefreshReading<T>
  consecutiveFailures(): number
  /** Loads now, or joins the load that is under way. True when it delivered a value. */
  refresh(): Promise<boolean>
  /** There may be something new: the next load comes at once, but not sooner than a quarter of the interval after the last. */
  hasten(): void
  /** Stops the timer and aborts a load under way; its result is dropped. */
  close(): void
}

export function createRefreshedValue<T>(options: RefreshOptions<T>): RefreshedValue<T> {
  const { clock, intervalMs } = options
  const closing = new AbortController()
  let flight: Promise<boolean> | undefined
  let newest: Sample<T> | undefined
  let failures = 0
  let cancelTimer: (() => void) | undefined
  let startedAtMs = Number.NEGATIVE_INFINITY
  /** Told of something new while a load was under way, which may not have seen it. */
  let isHastened = false

  async function load(): Promise<boolean> {
    const asOfMs = clock.now()
    try {
      const value = await withinTimeLimit(options, closing.signal)
      if (closing.signal.aborted) return false
      failures = 0
      newest = { value, asOfMs }
      options.onLoaded?.(newest)
      return true
    } catch (error) {
      if (closing.signal.aborted) return false
      failures += 1
      options.onFailed?.(error, failures)
      return false
    }
  }

  function refresh(): Promise<boolean> {
    flight ??= load().finally(() => {
      flight = undefined
    })
    return flight
  }

  async function refreshAndPlanNext(): Promise<void> {
    startedAtMs = clock.now()
    isHastened = false
    await refresh()
    if (closing.signal.aborted) return
    const backedOffMs = Math.min(intervalMs * 2 ** Math.min(failures, 16), options.backoffMaxMs ?? intervalMs)
    const hasteFactor = isHastened || options.isUrgent?.() === true ? 0.25 : 1
    const periodMs = Math.max(backedOffMs, intervalMs) * hasteFactor * (0.9 + 0.2 * options.random())
    // A slow load shortens the pause that follows it, but never to nothing.
    const delayMs = Math.max(periodMs - (clock.now() - startedAtMs), periodMs / 4)
    planNext(delayMs)
  }

  function planNext(delayMs: number): void {
    cancelTimer = clock.after(delayMs, () => {
      cancelTimer = undefined
      void refreshAndPlanNext()
    })
  }

  return {
    start() {
      if (!closing.signal.aborted) void refreshAndPlanNext()
    },
    read() {
      if (newest === undefined) return { state: 'empty' }
      const ageMs = clock.now() - newest.asOfMs
      if (ageMs > options.hardMaxAgeMs) return { state: 'expired', asOfMs: newest.asOfMs }
      return { state: ageMs > options.softMaxAgeMs ? 'stale' : 'fresh', ...newest }
    },
    consecutiveFailures: () => failures,
    refresh: () => (closing.signal.aborted ? Promise.resolve(false) : refresh()),
    hasten() {
      isHastened = true
      if (closing.signal.aborted || cancelTimer === undefined) return
      cancelTimer()
      planNext(Math.max(startedAtMs + intervalMs / 4 - clock.now(), 0))
    },
    close() {
      closing.abort()
      cancelTimer?.()
    },
  }
}

/** Settles at the limit even when `load` ignores its signal, so that one stuck load cannot stop the next. */
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
