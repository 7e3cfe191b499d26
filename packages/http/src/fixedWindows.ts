type Window = { count: number; startedAtMs: number }
type State = { readonly current: number; readonly ttl: number }
export type Callback = (error: Error | null, state: State) => void

/**
 * Callers remembered per bucket. Past it the ones with the oldest windows are forgotten and start
 * anew, so it must exceed what one attacker can address.
 */
const callersMax = 100_000

/**
 * Counters of the rate limiter: one fixed window per caller, from its first request on.
 *
 * Stands in for the plugin's own store, which hands out its live counter: requests that interleave
 * then see each other's counts and are refused below the limit.
 */
export class FixedWindows {
  readonly #windows = new Map<string, Window>()
  readonly #children = new WeakMap<object, FixedWindows>()

  incr(caller: string, callback: Callback, windowMs: number): void {
    const nowMs = Date.now()
    let window = this.#windows.get(caller)
    if (window === undefined || nowMs - window.startedAtMs >= windowMs) {
      this.#windows.delete(caller)
      this.#forgetOldest()
      window = { count: 0, startedAtMs: nowMs }
      this.#windows.set(caller, window)
    }
    window.count += 1
    callback(null, { current: window.count, ttl: windowMs - (nowMs - window.startedAtMs) })
  }

  /** The state without counting. */
  read(caller: string, callback: Callback, windowMs: number): void {
    const ageMs = Date.now() - (this.#windows.get(caller)?.startedAtMs ?? -windowMs)
    const window = ageMs < windowMs ? this.#windows.get(caller) : undefined
    callback(null, { current: window?.count ?? 0, ttl: window === undefined ? 0 : windowMs - ageMs })
  }

  /** Limiters that are made with the same function as their `max` count together. */
  child(options: object = {}): FixedWindows {
    const max: unknown = Reflect.get(options, 'max')
    if (typeof max !== 'function') return new FixedWindows()
    const child = this.#children.get(max) ?? new FixedWindows()
    this.#children.set(max, child)
    return child
  }

  /** Insertion order is window order, so the first entry is the oldest. */
  #forgetOldest(): void {
    if (this.#windows.size < callersMax) return
    const [oldest] = this.#windows.keys()
    if (oldest !== undefined) this.#windows.delete(oldest)
  }
}
