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

export type CachedReading<Value> = {
  /** Cache key of the value. */
  readonly key: string
  /** Questions of one key that want different things; default none do. */
  readonly variant?: string
  /** False for a kept value that lacks what is wanted; default it never does. */
  readonly answers?: (value: Value) => boolean
}

/**
 * Readings of one chain: made once while remembered, in bounded memory, and once for all who ask at the same
 * time. What fails is never remembered. @source design.md 7.5
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

  /** @throws UpstreamUnavailableError when `signal` aborts, and what `work` throws */
  async read(
    { key, variant = '', answers = () => true }: CachedReading<Value>,
    signal: AbortSignal,
    work: (signal: AbortSignal) => Promise<Value>,
  ): Promise<Value> {
    const remembered = this.#known.get(key)
    if (remembered !== undefined && answers(remembered)) return remembered
    const flight = { key: JSON.stringify([key, variant]), chainId: this.#chainId, signal }
    return shareChainReading(this.#flights, flight, async (shared) => {
      const value = await work(shared)
      this.#known.set(key, value)
      if (this.#known.size > this.#entriesMax) this.#known.pop()
      return value
    })
  }

  /** For a chain that was halted and is followed again. */
  forget(): void {
    this.#known.clear()
  }
}

type Flight<Value> = {
  readonly result: Promise<Value>
  readonly deadline: Deadline
  callers: number
}

/** Time limit of one piece of work, and the error that its signal is aborted with. */
export type TimeLimit = { readonly timeoutMs: number; readonly late: () => Error }

/**
 * Identical work runs once however many ask for it. Each caller may give up alone; the work is aborted
 * when the last one has. Nothing is remembered afterwards.
 * @source ledger-and-safety.md 4.7
 */
export class SingleFlight<Value> {
  readonly #flights = new Map<string, Flight<Value>>()
  readonly #limit: TimeLimit | undefined

  /** @param limit of the work, from its start: who joins has what is left of it */
  constructor(limit?: TimeLimit) {
    this.#limit = limit
  }

  /** @param key names everything that the work depends on */
  async run(key: string, signal: AbortSignal, work: (signal: AbortSignal) => Promise<Value>): Promise<Value> {
    const flight = this.#flights.get(key) ?? this.#start(key, work)
    flight.callers += 1
    const { gone, stopListening } = whenAborted(signal)
    try {
      return await Promise.race([flight.result, gone])
    } finally {
      stopListening()
      flight.callers -= 1
      if (flight.callers === 0) {
        // Nobody may join work that is being aborted.
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

function whenAborted(signal: AbortSignal): { gone: Promise<never>; stopListening: () => void } {
  let stopListening = () => {}
  const gone = new Promise<never>((_resolve, reject) => {
    const leave = () => reject(signal.reason)
    if (signal.aborted) return leave()
    // One caller may ask for much at once; Node would take more than ten listeners for a leak.
    setMaxListeners(0, signal)
    signal.addEventListener('abort', leave, { once: true })
    stopListening = () => signal.removeEventListener('abort', leave)
  })
  return { gone, stopListening }
}

/** One flight, with the refusal of a caller that gave up typed like any other. */
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
