import { setMaxListeners } from 'node:events'
import { type Deadline, startDeadline, UpstreamUnavailableError } from '@causeway/core'
import { createLruCache, type LruCache } from './lruCache.ts'

/** Memory limits of a reader's cache of final readings. */
export type ReadingCacheLimits = {
  /** Final transactions kept. Default 10 000; 0 keeps none. */
  readonly finalEntriesMax: number
  /** Characters kept with them. Default 32 million: at most 64 MiB. */
  readonly finalWeightMax: number
}

export const defaultReadingCacheLimits: ReadingCacheLimits = {
  finalEntriesMax: 10_000,
  finalWeightMax: 32 * 1024 * 1024,
}

/**
 * Terms by which a reading is found in the cache. There is one cached value for each `key`, and it is used if
 * `answers` accepts it. Else the work runs, shared by concurrent callers of equal `key` and `variant`, and
 * its result takes the place of the cached value, whichever parts that had.
 */
export type CachedReading<Value> = {
  /** Cache key of the value. */
  readonly key: string
  /** Distinguishes questions of one key that read different parts, so that they do not share work. */
  readonly variant?: string
  /** False if a cached value lacks parts that are wanted, so that it is read again. Default: always true. */
  readonly answers?: (value: Value) => boolean
}

/**
 * Cache of final readings of one chain, in bounded memory. Concurrent requests for one key share the work. Failures are
 * not cached.
 */
export class FinalReadingCache<Value extends NonNullable<unknown>> {
  readonly #chainId: string
  readonly #entriesMax: number
  readonly #known: LruCache<Value>
  readonly #flights = new SingleFlight<Value>()

  constructor(options: {
    readonly chainId: string
    readonly limits: ReadingCacheLimits
    readonly weightOf: (value: Value) => number
  }) {
    const { chainId, limits, weightOf } = options
    this.#chainId = chainId
    this.#entriesMax = limits.finalEntriesMax
    this.#known = createLruCache(limits.finalWeightMax, weightOf)
  }

  /** The cached value, or the result of `work`. @throws UpstreamUnavailableError if `signal` aborts; errors of `work` */
  async read(
    { key, variant = '', answers = () => true }: CachedReading<Value>,
    signal: AbortSignal,
    work: (signal: AbortSignal) => Promise<Value>,
  ): Promise<Value> {
    const remembered = this.#known.get(key)
    if (remembered !== undefined && answers(remembered)) return remembered
    const flight = { key: JSON.stringify([key, variant]), chainId: this.#chainId, signal }
    return shareChainReading(this.#flights, flight, async (sharedSignal) => {
      const value = await work(sharedSignal)
      this.#known.set(key, value)
      // Drops the least recently used one.
      if (this.#known.size > this.#entriesMax) this.#known.pop()
      return value
    })
  }

  /** Empties the cache, after a chain that was halted is followed again. */
  forget(): void {
    this.#known.clear()
  }
}

/** Work in progress, and the number of callers that wait for it. */
type Flight<Value> = {
  readonly result: Promise<Value>
  readonly deadline: Deadline
  callers: number
}

/** Time limit of one piece of work, and the error that its signal is aborted with. */
export type TimeLimit = { readonly timeoutMs: number; readonly late: () => Error }

/**
 * Runs identical work once for all concurrent callers. Each caller may give up by itself; the work is aborted once the
 * last one has. Results are not kept.
 * @source rule P-94
 */
export class SingleFlight<Value> {
  readonly #flights = new Map<string, Flight<Value>>()
  readonly #limit: TimeLimit | undefined

  /** @param limit time limit of the work from its start; a caller that joins later has only the rest of it */
  constructor(limit?: TimeLimit) {
    this.#limit = limit
  }

  /**
   * @param key names everything that the work depends on
   * @throws the reason of `signal` when it aborts; errors of `work`
   */
  async run(key: string, signal: AbortSignal, work: (signal: AbortSignal) => Promise<Value>): Promise<Value> {
    const flight = this.#flights.get(key) ?? this.#start(key, work)
    flight.callers += 1
    const { aborted, stopListening } = whenAborted(signal)
    try {
      return await Promise.race([flight.result, aborted])
    } finally {
      stopListening()
      flight.callers -= 1
      if (flight.callers === 0) {
        // Removed first, so that no caller joins work that is being aborted.
        if (this.#flights.get(key) === flight) this.#flights.delete(key)
        flight.deadline.end()
      }
    }
  }

  #start(key: string, work: (signal: AbortSignal) => Promise<Value>): Flight<Value> {
    const deadline = startDeadline(undefined, this.#limit?.timeoutMs, this.#limit?.late)
    const result = work(deadline.signal).finally(() => {
      if (this.#flights.get(key) === flight) this.#flights.delete(key)
    })
    const flight: Flight<Value> = { result, deadline, callers: 0 }
    this.#flights.set(key, flight)
    return flight
  }
}

function whenAborted(signal: AbortSignal): { aborted: Promise<never>; stopListening: () => void } {
  let stopListening = () => {}
  const aborted = new Promise<never>((_resolve, reject) => {
    const leave = () => reject(signal.reason)
    if (signal.aborted) return leave()
    // One signal may wait for many flights; Node warns of a leak above ten listeners.
    setMaxListeners(0, signal)
    signal.addEventListener('abort', leave, { once: true })
    stopListening = () => signal.removeEventListener('abort', leave)
  })
  return { aborted, stopListening }
}

/** `SingleFlight.run` for reads of a chain: a caller that gives up gets an UpstreamUnavailableError. */
export async function shareChainReading<Value>(
  flights: SingleFlight<Value>,
  { key, chainId, signal }: { readonly key: string; readonly chainId: string; readonly signal: AbortSignal },
  work: (signal: AbortSignal) => Promise<Value>,
): Promise<Value> {
  try {
    return await flights.run(key, signal, work)
  } catch (error) {
    if (!signal.aborted) throw error
    throw new UpstreamUnavailableError(`Chain ${chainId} did not answer in time.`, {
      code: 'REQUEST_TIMED_OUT',
      data: { chainId },
      cause: error,
    })
  }
}
