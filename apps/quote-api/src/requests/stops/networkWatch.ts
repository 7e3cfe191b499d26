import { readNetworkFacts } from '@causeway/chains'
import type { ChainMoment, NetworkFacts } from '@causeway/families'
import type { ShapeUnits } from '@causeway/families/rules'
import type { Market, MarketSnapshot } from '@causeway/market'
import type { ChainClient } from '@causeway/rpc'
import type { QuotableChain, QuoteRegistry } from '../../pricing/registry.ts'
import {
  type BrokenAssumption,
  judgeBlockTime,
  judgeFinality,
  judgeGas,
  judgeGuardians,
  type Span,
  tellsPace,
} from './assumptions.ts'

export type WatchedChain = {
  readonly chain: Pick<QuotableChain, 'key' | 'chainId' | 'vmType' | 'config'>
  readonly client: Pick<ChainClient, 'askEach' | 'electorate'>
  readonly fillWallet: string | undefined
}

/** The chains of a registry that have a client. @param fillWallet for chains that configure none of their own */
export function watchedChains(
  registry: Pick<QuoteRegistry, 'chains'>,
  clients: ReadonlyMap<string, WatchedChain['client']>,
  fillWallet: string | undefined,
): readonly WatchedChain[] {
  return registry.chains.flatMap((chain) => {
    const client = clients.get(chain.key)
    return client === undefined ? [] : [{ chain, client, fillWallet: chain.config.fillWallet ?? fillWallet }]
  })
}

/** Compares networks with what configuration files assume about them. */
export interface NetworkWatch {
  /** Assumptions that are broken by present knowledge, judged at each call. */
  broken(): readonly BrokenAssumption[]
  /** Looks every minute until closed. */
  start(): void
  close(): void
}

/** Time from look to look; each takes `lookTimeoutMs` at most, so a change is known in about a minute. */
const lookEveryMs = 55_000
const lookTimeoutMs = 10_000
/** Time for which heads are kept to measure the block time. */
const paceWindowMs = 60_000
/** Time for which the judgement of guardian sets is cached, because describing all prices is costly. */
const guardiansEveryMs = 5_000

type SeenHead = ChainMoment & { readonly seenAtMs: number }

/**
 * Watches the chains that have dated assumptions. Block times come from heads that the market reads anyway, gas and price
 * signers from its prices; only finality is read from the chain, once a minute. Each process watches by itself.
 * @source rule O-107
 */
export const createNetworkWatch = (options: NetworkWatchOptions): NetworkWatch => new MarketWatch(options)

type NetworkWatchOptions = {
  readonly chains: readonly WatchedChain[]
  readonly market: Pick<Market, 'health' | 'onChange'>
  readonly now: () => number
  readonly onFailure: (chain: string, error: unknown) => void
}

class MarketWatch implements NetworkWatch {
  readonly #options: NetworkWatchOptions
  readonly #chains: readonly WatchedChain[]
  readonly #headsByChain = new Map<number, readonly SeenHead[]>()
  readonly #facts = new Map<number, NetworkFacts>()
  /** Gas units of each kind of transaction, as the market measured them last, by chain. */
  readonly #gasShapes = new Map<number, readonly ShapeUnits[]>()
  readonly #closing = new AbortController()
  readonly #unsubscribe: () => void
  /** Judgement of the guardian sets that sign prices, and the time at which it was made. */
  #guardians: { readonly broken: readonly BrokenAssumption[]; readonly readAtMs: number } | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(options: NetworkWatchOptions) {
    this.#options = options
    this.#chains = options.chains.filter(({ chain }) => chain.config.seen !== undefined)
    this.#unsubscribe = options.market.onChange((snapshot) => this.#noteHeads(snapshot))
  }

  broken(): readonly BrokenAssumption[] {
    return [
      ...this.#chains.flatMap((chain) => [
        ...this.#brokenBlockTime(chain),
        ...this.#brokenFinalityAndGas(chain),
      ]),
      ...this.#brokenGuardians(),
    ]
  }

  start(): void {
    const { now } = this.#options
    const startedMs = now()
    void Promise.all(this.#chains.map((chain) => this.#lookAt(chain))).finally(() => {
      if (this.#closing.signal.aborted) return
      this.#timer = setTimeout(() => this.start(), Math.max(0, startedMs + lookEveryMs - now())).unref()
    })
  }

  close(): void {
    this.#closing.abort()
    clearTimeout(this.#timer)
    this.#unsubscribe()
  }

  #noteHeads(snapshot: MarketSnapshot): void {
    const seenAtMs = this.#options.now()
    for (const { chain } of this.#chains) {
      const state = snapshot.chain(chain.chainId)
      // The market has no present values of this chain.
      if ('reason' in state) continue
      if (state.shapes !== undefined) this.#gasShapes.set(chain.chainId, state.shapes)
      const { number, timestampSeconds } = state.head
      const recentHeads = withinWindow(this.#headsByChain.get(chain.chainId) ?? [], seenAtMs)
      if (recentHeads.at(-1)?.number !== number)
        this.#headsByChain.set(chain.chainId, [...recentHeads, { number, timestampSeconds, seenAtMs }])
    }
  }

  #brokenBlockTime({ chain }: WatchedChain): readonly BrokenAssumption[] {
    const heads = withinWindow(this.#headsByChain.get(chain.chainId) ?? [], this.#options.now())
    const { final, head } = this.#facts.get(chain.chainId) ?? {}
    // After a start few heads are known, so the span from the newest final block to the head is used.
    const span = [spanOf(heads[0], heads.at(-1)), spanOf(final, head)].find(
      (candidate) => candidate !== undefined && tellsPace(candidate),
    )
    return span === undefined ? [] : judgeBlockTime(chain, span)
  }

  #brokenFinalityAndGas({ chain }: WatchedChain): readonly BrokenAssumption[] {
    const facts = this.#facts.get(chain.chainId)
    const shapes = this.#gasShapes.get(chain.chainId) ?? []
    return [...(facts === undefined ? [] : judgeFinality(chain, facts)), ...judgeGas(chain, { shapes })]
  }

  #brokenGuardians(): readonly BrokenAssumption[] {
    const { market, now } = this.#options
    if (this.#guardians === undefined || now() - this.#guardians.readAtMs >= guardiansEveryMs) {
      const sources = market.health().prices.flatMap((price) => price.sources)
      const faults = sources.filter(({ kind }) => kind === 'signed').map(({ fault }) => fault)
      this.#guardians = { broken: judgeGuardians(faults), readAtMs: now() }
    }
    return this.#guardians.broken
  }

  async #lookAt({ chain, client }: WatchedChain): Promise<void> {
    const { signal } = this.#closing
    // No fill wallet, because the market measures gas itself.
    const readOptions = {
      client,
      config: chain.config,
      fillWallet: undefined,
      timeoutMs: lookTimeoutMs,
      signal,
    }
    try {
      const facts = await readNetworkFacts(chain, readOptions)
      if (facts !== undefined)
        this.#facts.set(chain.chainId, mergeFacts(this.#facts.get(chain.chainId), facts))
    } catch (error) {
      if (!signal.aborted) this.#options.onFailure(chain.key, error)
    }
  }
}

/** Keeps the former facts if the new ones are incomplete, so that a silent chain does not end a stop. */
function mergeFacts(before: NetworkFacts | undefined, facts: NetworkFacts): NetworkFacts {
  const isComplete = facts.head !== undefined && facts.final !== undefined
  return isComplete ? facts : (before ?? facts)
}

/** The span between two blocks; undefined unless both are known. */
const spanOf = (from: ChainMoment | undefined, to: ChainMoment | undefined): Span | undefined =>
  from === undefined || to === undefined ? undefined : { from, to }

const withinWindow = (heads: readonly SeenHead[], nowMs: number): readonly SeenHead[] =>
  heads.filter(({ seenAtMs }) => nowMs - seenAtMs <= paceWindowMs)
