import { setTimeout as sleep } from 'node:timers/promises'
import { type Callback, FixedWindows } from './fixedWindows.ts'

/** Request of a process for units of a window that other processes count in too. */
export type UnitClaim = {
  /** Whose limit it is: a class of routes. */
  readonly bucket: string
  readonly caller: string
  /** From the first claim of a window on. */
  readonly windowMs: number
  /** All processes together. */
  readonly max: number
  readonly wanted: number
}

export type UnitGrant = {
  /** At most what was wanted; less when the window is full. */
  readonly granted: number
  /** Units taken by all processes, this grant included. */
  readonly taken: number
  readonly endsInMs: number
}

/** Claims units from the shared counter; throws when it does not answer. */
export type ClaimUnits = (claims: readonly UnitClaim[]) => Promise<readonly UnitGrant[]>

export type SharedLimits = {
  readonly claim: ClaimUnits
  /** Told once whenever limits begin to be counted by this process alone. */
  readonly onAlone: (error: unknown) => void
}

/**
 * A fiftieth of a limit is claimed at a time, so that a busy caller costs few claims. What one process has claimed and
 * not used is lost to the others: with n of them a caller is refused (n − 1) / 50 of its limit too early at most.
 */
const claimsPerLimit = 50
/** Longer than a database takes that is well; a request waits no longer to be counted. */
const claimTimeoutMs = 500
/** Without an answer each process counts for itself for so long, before it asks again: few requests wait. */
const aloneMs = 5_000
const claimsPerCallMax = 1_000
/** As many as `FixedWindows` remembers. */
const callersMax = 100_000

type Window = {
  readonly caller: string
  /** 0 before the first grant. */
  endsAtMs: number
  /** Granted to this process and not used yet. */
  left: number
  taken: number
  isFull: boolean
  readonly waiting: Callback[]
}

/**
 * The store of a rate limiter whose windows several processes share. Never lets more through than the limit, whatever
 * share of a caller's requests a process sees; a window that is known to be full asks nobody. Where nobody answers in
 * time, each process counts for itself, so that a slow database refuses nobody.
 */
export class SharedWindows {
  readonly #claims: ClaimQueue
  readonly #buckets = new Map<string, Bucket>()

  constructor(limits: SharedLimits) {
    this.#claims = new ClaimQueue(limits)
  }

  /** Limiters that name the same bucket count together. @throws Error for a limiter that names none */
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
    else if (window.waiting.push(callback) === 1) this.#claim(window, windowMs, max)
  }

  /** Remaining units as this process knows them, without a request and without counting. */
  read(caller: string, callback: Callback, windowMs: number): void {
    if (this.#claims.isAlone) {
      this.#alone.read(caller, callback, windowMs)
      return
    }
    const window = this.#windows.get(caller)
    const ttl = Math.max(0, (window?.endsAtMs ?? 0) - Date.now())
    callback(null, { current: window === undefined || ttl === 0 ? 0 : window.taken - window.left, ttl })
  }

  child(): Bucket {
    return this
  }

  #claim(window: Window, windowMs: number, max: number): void {
    const { caller } = window
    const step = Math.max(1, Math.floor(max / claimsPerLimit))
    this.#claims.add({
      toClaim: () => ({
        ...{ bucket: this.#name, caller, windowMs, max },
        wanted: Math.min(max, Math.max(step, window.waiting.length)),
      }),
      settle: (grant) => {
        window.endsAtMs = Date.now() + grant.endsInMs
        window.left += grant.granted
        window.taken = grant.taken
        window.isFull = grant.taken >= max
        for (const callback of window.waiting.splice(0, window.left)) useUnit(window, callback)
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
    if (cachedWindow !== undefined && (cachedWindow.waiting.length > 0 || cachedWindow.endsAtMs > Date.now()))
      return cachedWindow
    this.#windows.delete(caller)
    if (this.#windows.size >= callersMax) this.#forgetOldest()
    const window = { caller, endsAtMs: 0, left: 0, taken: 0, isFull: false, waiting: [] }
    this.#windows.set(caller, window)
    return window
  }

  /** Not one that is asked about: it would be asked about twice in one call. */
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

function refuse(window: Window, callback: Callback, max: number): void {
  callback(null, { current: max + 1, ttl: ttlOf(window) })
}

const ttlOf = ({ endsAtMs }: Window): number => Math.max(0, endsAtMs - Date.now())

type QueuedClaim = {
  /** Made when it is sent, for all that wait by then. */
  readonly toClaim: () => UnitClaim
  readonly settle: (grant: UnitGrant) => void
  readonly giveUp: () => void
}

/** One call is under way at a time; what is claimed meanwhile goes together in the next. */
class ClaimQueue {
  readonly #limits: SharedLimits
  #queued: QueuedClaim[] = []
  #isCalling = false
  #aloneUntilMs = 0

  constructor(limits: SharedLimits) {
    this.#limits = limits
  }

  get isAlone(): boolean {
    return Date.now() < this.#aloneUntilMs
  }

  add(claim: QueuedClaim): void {
    this.#queued.push(claim)
    if (!this.#isCalling) void this.#callAll()
  }

  async #callAll(): Promise<void> {
    this.#isCalling = true
    // Requests that were read together are claimed together.
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
      this.#aloneUntilMs = Date.now() + aloneMs
      this.#limits.onAlone(error)
      for (const claim of [...queued, ...this.#queued.splice(0)]) claim.giveUp()
    } finally {
      timeout.abort()
    }
  }
}
