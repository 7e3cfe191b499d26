import { setTimeout as sleep } from 'node:timers/promises'
import { type Callback, FixedWindows } from './fixedWindows.ts'

/**
 * A process's claim to units of a caller's window, which all processes share. One unit is one request; a process claims
 * several in advance and then counts requests itself.
 */
export type UnitClaim = {
  /** Name of the limit: a class of routes. */
  readonly bucket: string
  readonly caller: string
  readonly windowMs: number
  /** Most units of the window, of all processes together. */
  readonly max: number
  readonly wanted: number
}

export type UnitGrant = {
  /** At most `wanted`; less when the window is full. */
  readonly granted: number
  /** Units granted to all processes in this window, this grant included. */
  readonly taken: number
  readonly endsInMs: number
}

/** Claims units from the shared counter: one grant per claim, in their order. Throws when the counter does not answer. */
export type ClaimUnits = (claims: readonly UnitClaim[]) => Promise<readonly UnitGrant[]>

export type SharedLimits = {
  readonly claim: ClaimUnits
  /** Called with the reason whenever this process begins to count alone. */
  readonly onAlone: (error: unknown) => void
}

/**
 * A claim asks for a fiftieth of a limit, so that a busy caller costs few claims. Units that one process has claimed and
 * not used are lost to the others: with n processes a caller may be refused (n − 1) / 50 of its limit too early.
 */
const claimsPerLimit = 50
/** A request waits this long to be counted. A healthy database answers faster. */
const claimTimeoutMs = 500
/** After a failed claim the process counts alone for this long, so that few requests wait for an absent database. */
const aloneMs = 5_000
const claimsPerCallMax = 1_000
/** As many as `FixedWindows` remembers. */
const callersMax = 100_000

/** One caller's shared window, as far as this process knows it. */
type Window = {
  readonly caller: string
  /** 0 before the first grant. */
  endsAtMs: number
  /** Units granted to this process and not used yet. */
  left: number
  /** Units granted to all processes, at the last grant. */
  taken: number
  isFull: boolean
  /** Requests that wait for the grant that is under way; empty exactly while none is. */
  readonly waiting: Callback[]
}

/**
 * Store of `@fastify/rate-limit` whose windows several processes share through a counter in the database. However a
 * caller's requests are spread over processes, no more than the limit pass. A window that is known to be full asks the
 * counter no more. While the counter does not answer, each process counts alone, so that a slow database refuses nobody.
 *
 * `Bucket.incr` decides about a request by the first that holds: the process counts alone; the window has a
 * unit left, which is used; the window is full, which refuses it. Else it waits for a grant, then the same is
 * decided of it.
 */
export class SharedWindows {
  readonly #claims: ClaimQueue
  readonly #buckets = new Map<string, Bucket>()

  constructor(limits: SharedLimits) {
    this.#claims = new ClaimQueue(limits)
  }

  /**
   * The plugin calls it once per limiter. Limiters that name the same bucket count together.
   * @throws Error for a limiter that names none
   */
  child(options: object = {}): Bucket {
    const name: unknown = Reflect.get(options, 'bucket')
    if (typeof name !== 'string') throw new Error('a limiter that is shared names its bucket')
    const bucket = this.#buckets.get(name) ?? new Bucket(name, this.#claims)
    this.#buckets.set(name, bucket)
    return bucket
  }

  incr(): never {
    throw new Error('nothing is counted outside of a bucket')
  }
}

/** The windows of one bucket. `incr` and `read` are called by the plugin. */
class Bucket {
  readonly #name: string
  readonly #claims: ClaimQueue
  readonly #windows = new Map<string, Window>()
  readonly #alone = new FixedWindows()

  constructor(name: string, claims: ClaimQueue) {
    this.#name = name
    this.#claims = claims
  }

  incr(caller: string, callback: Callback, windowMs: number, max: number): void {
    if (this.#claims.isAlone) {
      this.#alone.incr(caller, callback, windowMs)
      return
    }
    const window = this.#windowOf(caller)
    if (window.left > 0) useUnit(window, callback)
    else if (window.isFull) refuse(window, callback, max)
    // The first request that waits makes the claim; later ones wait for the same grant.
    else if (window.waiting.push(callback) === 1) this.#claim(window, windowMs, max)
  }

  /** Usage as far as this process knows it, without counting. Units left to other processes count as used. */
  read(caller: string, callback: Callback, windowMs: number): void {
    if (this.#claims.isAlone) {
      this.#alone.read(caller, callback, windowMs)
      return
    }
    const window = this.#windows.get(caller)
    const ttl = Math.max(0, (window?.endsAtMs ?? 0) - performance.now())
    callback(null, { current: window === undefined || ttl === 0 ? 0 : window.taken - window.left, ttl })
  }

  /** The plugin's type of a store demands it. */
  child(): Bucket {
    return this
  }

  #claim(window: Window, windowMs: number, max: number): void {
    const { caller } = window
    const step = Math.max(1, Math.floor(max / claimsPerLimit))
    this.#claims.add({
      toClaim: () => ({
        bucket: this.#name,
        caller,
        windowMs,
        max,
        wanted: Math.min(max, Math.max(step, window.waiting.length)),
      }),
      settle: (grant) => {
        window.endsAtMs = performance.now() + grant.endsInMs
        window.left += grant.granted
        window.taken = grant.taken
        window.isFull = grant.taken >= max
        for (const callback of window.waiting.splice(0, window.left)) useUnit(window, callback)
        // More requests came than the grant covers: refuse them, or claim again. Only full windows grant 0.
        if (window.isFull) for (const callback of window.waiting.splice(0)) refuse(window, callback, max)
        else if (window.waiting.length > 0) this.#claim(window, windowMs, max)
      },
      giveUp: () => {
        this.#windows.delete(caller)
        for (const callback of window.waiting.splice(0)) this.#alone.incr(caller, callback, windowMs)
      },
    })
  }

  #windowOf(caller: string): Window {
    const cachedWindow = this.#windows.get(caller)
    if (
      cachedWindow !== undefined &&
      (cachedWindow.waiting.length > 0 || cachedWindow.endsAtMs > performance.now())
    )
      return cachedWindow
    this.#windows.delete(caller)
    if (this.#windows.size >= callersMax) this.#forgetOldest()
    const window = { caller, endsAtMs: 0, left: 0, taken: 0, isFull: false, waiting: [] }
    this.#windows.set(caller, window)
    return window
  }

  /** Skips windows with a claim under way: a new window of the same caller would make a second claim. */
  #forgetOldest(): void {
    for (const [caller, { waiting }] of this.#windows) {
      if (waiting.length > 0) continue
      this.#windows.delete(caller)
      return
    }
  }
}

function useUnit(window: Window, callback: Callback): void {
  window.left -= 1
  callback(null, { current: window.taken - window.left, ttl: ttlOf(window) })
}

/** The plugin refuses a request whose count is above the limit. */
function refuse(window: Window, callback: Callback, max: number): void {
  callback(null, { current: max + 1, ttl: ttlOf(window) })
}

const ttlOf = ({ endsAtMs }: Window): number => Math.max(0, endsAtMs - performance.now())

type QueuedClaim = {
  /** Called when the claim is sent, so that it covers all requests that wait by then. */
  readonly toClaim: () => UnitClaim
  readonly settle: (grant: UnitGrant) => void
  /** Called when there is no grant: the waiting requests are counted by this process alone. */
  readonly giveUp: () => void
}

/** Sends claims to the shared counter, one call at a time; claims that come meanwhile go together in the next call. */
class ClaimQueue {
  readonly #limits: SharedLimits
  #queued: QueuedClaim[] = []
  #isCalling = false
  /** Set by each failed call: until then the buckets do not ask, and count for this process only. */
  #aloneUntilMs = 0

  constructor(limits: SharedLimits) {
    this.#limits = limits
  }

  get isAlone(): boolean {
    return performance.now() < this.#aloneUntilMs
  }

  add(claim: QueuedClaim): void {
    this.#queued.push(claim)
    if (!this.#isCalling) void this.#callAll()
  }

  async #callAll(): Promise<void> {
    this.#isCalling = true
    // Waits for the turn of the event loop to end, so that requests that were read together are claimed together.
    await new Promise((resolve) => setImmediate(resolve))
    while (this.#queued.length > 0) await this.#call(this.#queued.splice(0, claimsPerCallMax))
    this.#isCalling = false
  }

  async #call(queued: readonly QueuedClaim[]): Promise<void> {
    const timeout = new AbortController()
    try {
      const late = sleep(claimTimeoutMs, undefined, { signal: timeout.signal, ref: false }).then(() => {
        throw new Error(`limits were not counted within ${claimTimeoutMs} ms`)
      })
      const grants = await Promise.race([this.#limits.claim(queued.map(({ toClaim }) => toClaim())), late])
      for (const [index, claim] of queued.entries()) {
        const grant = grants[index]
        if (grant === undefined) claim.giveUp()
        else claim.settle(grant)
      }
    } catch (error) {
      this.#aloneUntilMs = performance.now() + aloneMs
      this.#limits.onAlone(error)
      for (const claim of [...queued, ...this.#queued.splice(0)]) claim.giveUp()
    } finally {
      timeout.abort()
    }
  }
}
