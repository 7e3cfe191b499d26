type Window = { count: number; startedAtMs: number }
/** As `@fastify/rate-limit` expects it. `current`: requests counted so far. `ttl`: milliseconds until the window ends. */
type WindowUsage = { readonly current: number; readonly ttl: number }
export type Callback = (error: Error | null, usage: WindowUsage) => void

/**
 * Callers remembered per bucket. Above it the callers with the oldest windows are forgotten and begin a new window, so
 * it must exceed the number of addresses that one attacker has.
 */
const callersMax = 100_000

/**
 * Store of `@fastify/rate-limit` for one process: a fixed window per caller, which begins with the caller's first request.
 *
 * It replaces the plugin's own store, which passes its live counter object to requests: concurrent requests then see each
 * other's counts and are refused below the limit.
 */
export class FixedWindows {
  readonly #windows = new Map<string, Window>()
  readonly #children = new WeakMap<object, FixedWindows>()

  incr(caller: string, callback: Callback, windowMs: number): void {
    const nowMs = performance.now()
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

  /** Usage of a caller's window, without counting a request. */
  read(caller: string, callback: Callback, windowMs: number): void {
    const window = this.#windows.get(caller)
    const remainingMs = window === undefined ? 0 : window.startedAtMs + windowMs - performance.now()
    const isOpen = window !== undefined && remainingMs > 0
    callback(null, isOpen ? { current: window.count, ttl: remainingMs } : { current: 0, ttl: 0 })
  }

  /**
   * The plugin calls it once per limiter. Limiters with the same function as their `max` share a store, and so count
   * together: `createLimiter` makes two for each class.
   */
  child(options: object = {}): FixedWindows {
    const max: unknown = Reflect.get(options, 'max')
    if (typeof max !== 'function') return new FixedWindows()
    const child = this.#children.get(max) ?? new FixedWindows()
    this.#children.set(max, child)
    return child
  }

  /** A new window is inserted last, so the first entry is the oldest. */
  #forgetOldest(): void {
    if (this.#windows.size < callersMax) return
    const [oldest] = this.#windows.keys()
    if (oldest !== undefined) this.#windows.delete(oldest)
  }
}
