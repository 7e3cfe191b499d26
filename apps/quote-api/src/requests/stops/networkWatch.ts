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

/** Chains of a registry that have a client. @param fillWallet of chains that name none of their own */
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

/** Compares networks with the facts of the files. */
export interface NetworkWatch {
  /** Facts that are not as the files have them, by what is known now. */
  broken(): readonly BrokenAssumption[]
  /** Looks again and again until closed. */
  start(): void
  close(): void
}

/** So that a change is known within a minute. */
const lookEveryMs = 55_000
const lookTimeoutMs = 10_000
/** Heads of this time tell the pace of a chain. */
const paceWindowMs = 60_000
/** Prices are described for many readers, and this one needs no better. */
const guardiansEveryMs = 5_000

type SeenHead = ChainMoment & { readonly seenAtMs: number }

/**
 * Watches the chains whose facts are dated. Their pace comes from heads that the market reads anyway, gas and signers
 * from what its prices are made of; finality is asked for, once a minute. Each process watches by itself. @source rule O-107
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
  readonly #sights = new Map<number, readonly SeenHead[]>()
  readonly #facts = new Map<number, NetworkFacts>()
  readonly #measured = new Map<number, readonly ShapeUnits[]>()
  readonly #closing = new AbortController()
  readonly #stopSeeing: () => void
  #guardians: { readonly broken: readonly BrokenAssumption[]; readonly readAtMs: number } | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(options: NetworkWatchOptions) {
    this.#options = options
    this.#chains = options.chains.filter(({ chain }) => chain.config.seen !== undefined)
    this.#stopSeeing = options.market.onChange((snapshot) => this.#seeHeads(snapshot))
  }

  broken(): readonly BrokenAssumption[] {
    return [
      ...this.#chains.flatMap((chain) => [...this.#paceOf(chain), ...this.#saidOf(chain)]),
      ...this.#signers(),
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
    this.#stopSeeing()
  }

  #seeHeads(snapshot: MarketSnapshot): void {
    const seenAtMs = this.#options.now()
    for (const { chain } of this.#chains) {
      const state = snapshot.chain(chain.chainId)
      if ('reason' in state) continue
      if (state.shapes !== undefined) this.#measured.set(chain.chainId, state.shapes)
      const { number, timestampSeconds } = state.head
      const recentHeads = young(this.#sights.get(chain.chainId) ?? [], seenAtMs)
      if (recentHeads.at(-1)?.number !== number)
        this.#sights.set(chain.chainId, [...recentHeads, { number, timestampSeconds, seenAtMs }])
    }
  }

  #paceOf({ chain }: WatchedChain): readonly BrokenAssumption[] {
    const heads = young(this.#sights.get(chain.chainId) ?? [], this.#options.now())
    const { final, head } = this.#facts.get(chain.chainId) ?? {}
    // After a start few heads are known, and the way from the newest final block tells as much.
    const span = [spanOf(heads[0], heads.at(-1)), spanOf(final, head)].find(
      (one) => one !== undefined && tellsPace(one),
    )
    return span === undefined ? [] : judgeBlockTime(chain, span)
  }

  #saidOf({ chain }: WatchedChain): readonly BrokenAssumption[] {
    const facts = this.#facts.get(chain.chainId)
    const shapes = this.#measured.get(chain.chainId) ?? []
    return [...(facts === undefined ? [] : judgeFinality(chain, facts)), ...judgeGas(chain, { shapes })]
  }

  #signers(): readonly BrokenAssumption[] {
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
    // The market measures gas itself.
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
        this.#facts.set(chain.chainId, holdFacts(this.#facts.get(chain.chainId), facts))
    } catch (error) {
      if (!signal.aborted) this.#options.onFailure(chain.key, error)
    }
  }
}

/** A fact that is not said now is as it was: who keeps a chain silent mends nothing. */
function holdFacts(before: NetworkFacts | undefined, facts: NetworkFacts): NetworkFacts {
  const isPlaced = facts.head !== undefined && facts.final !== undefined
  return isPlaced ? facts : (before ?? facts)
}

const spanOf = (from: ChainMoment | undefined, to: ChainMoment | undefined): Span | undefined =>
  from === undefined || to === undefined ? undefined : { from, to }

const young = (sights: readonly SeenHead[], nowMs: number): readonly SeenHead[] =>
  sights.filter(({ seenAtMs }) => nowMs - seenAtMs <= paceWindowMs)
