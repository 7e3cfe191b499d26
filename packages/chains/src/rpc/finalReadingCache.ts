import { shareChainReading } from './shareChainReading.ts'
import { SingleFlight } from './singleFlight.ts'
import { WeightedLruCache } from './weightedLruCache.ts'

/** How much of what is final a reader keeps in memory. */
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
  /** What the value is kept under. */
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
export class FinalReadingCache<Value> {
  readonly #chainId: string
  readonly #weightOf: (value: Value) => number
  readonly #known: WeightedLruCache<Value>
  readonly #flights = new SingleFlight<Value>()

  constructor(options: {
    readonly chainId: string
    readonly limits: ReadingCacheLimits
    readonly weightOf: (value: Value) => number
  }) {
    const { chainId, limits, weightOf } = options
    this.#chainId = chainId
    this.#weightOf = weightOf
    this.#known = new WeightedLruCache({
      entriesMax: limits.finalEntriesMax,
      weightMax: limits.finalWeightMax,
    })
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
      this.#known.set(key, value, this.#weightOf(value))
      return value
    })
  }

  /** For a chain that was halted and is followed again. */
  forget(): void {
    this.#known.clear()
  }
}
