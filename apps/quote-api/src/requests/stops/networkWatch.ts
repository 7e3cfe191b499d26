import { type ChainClient, type ChainMoment, type NetworkFacts, readNetworkFacts } from '@causeway/chains'
import type { ShapeUnits } from '@causeway/core'
import type { Market, MarketSnapshot } from '@causeway/market'
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

type Sight = ChainMoment & { readonly seenAtMs: number }

/**
 * Watches the chains whose facts are dated. Their pace comes from heads that the market reads anyway, gas and signers
 * from what its prices are made of; finality is asked for, once a minute. Each process watches by itself. @source rule O-107
 */
export function createNetworkWatch(options: {
  readonly chains: readonly WatchedChain[]
  readonly market: Pick<Market, 'health' | 'onChange'>
  readonly now: () => number
  readonly onFailure: (chain: string, error: unknown) => void
}): NetworkWatch {
  const { market, now, onFailure } = options
  const chains = options.chains.filter(({ chain }) => chain.config.seen !== undefined)
  const sights = new Map<number, readonly Sight[]>()
  const facts = new Map<number, NetworkFacts>()
  const measured = new Map<number, readonly ShapeUnits[]>()
  const closing = new AbortController()
  let guardians: { readonly broken: readonly BrokenAssumption[]; readonly readAtMs: number } | undefined
  let timer: NodeJS.Timeout | undefined

  function sawHeads(snapshot: MarketSnapshot): void {
    const seenAtMs = now()
    for (const { chain } of chains) {
      const state = snapshot.chain(chain.chainId)
      if ('reason' in state) continue
      if (state.shapes !== undefined) measured.set(chain.chainId, state.shapes)
      const { number, timestampSeconds } = state.head
      const known = young(sights.get(chain.chainId) ?? [], seenAtMs)
      if (known.at(-1)?.number !== number)
        sights.set(chain.chainId, [...known, { number, timestampSeconds, seenAtMs }])
    }
  }
  const end = market.onChange(sawHeads)

  function paceOf({ chain }: WatchedChain): readonly BrokenAssumption[] {
    const heads = young(sights.get(chain.chainId) ?? [], now())
    const { final, head } = facts.get(chain.chainId) ?? {}
    // After a start few heads are known, and the way from the newest final block tells as much.
    const span = [spanOf(heads[0], heads.at(-1)), spanOf(final, head)].find(
      (one) => one !== undefined && tellsPace(one),
    )
    return span === undefined ? [] : judgeBlockTime(chain, span)
  }
  function saidOf({ chain }: WatchedChain): readonly BrokenAssumption[] {
    const said = facts.get(chain.chainId)
    const shapes = measured.get(chain.chainId) ?? []
    return [...(said === undefined ? [] : judgeFinality(chain, said)), ...judgeGas(chain, { shapes })]
  }
  function signers(): readonly BrokenAssumption[] {
    if (guardians === undefined || now() - guardians.readAtMs >= guardiansEveryMs) {
      const sources = market.health().prices.flatMap((price) => price.sources)
      const faults = sources.filter(({ kind }) => kind === 'signed').map(({ fault }) => fault)
      guardians = { broken: judgeGuardians(faults), readAtMs: now() }
    }
    return guardians.broken
  }
  async function lookAt({ chain, client }: WatchedChain): Promise<void> {
    const { config } = chain
    // The market measures gas itself.
    const asked = {
      ...{ client, config, fillWallet: undefined },
      ...{ timeoutMs: lookTimeoutMs, signal: closing.signal },
    }
    try {
      const said = await readNetworkFacts(chain, asked)
      if (said !== undefined) facts.set(chain.chainId, holding(facts.get(chain.chainId), said))
    } catch (error) {
      if (!closing.signal.aborted) onFailure(chain.key, error)
    }
  }
  return {
    broken: () => [...chains.flatMap((chain) => [...paceOf(chain), ...saidOf(chain)]), ...signers()],
    start() {
      const again = () => {
        const startedMs = now()
        void Promise.all(chains.map(lookAt)).finally(() => {
          if (closing.signal.aborted) return
          timer = setTimeout(again, Math.max(0, startedMs + lookEveryMs - now())).unref()
        })
      }
      again()
    },
    close() {
      closing.abort()
      clearTimeout(timer)
      end()
    },
  }
}

/** A fact that is not said now is as it was: who keeps a chain silent mends nothing. */
function holding(before: NetworkFacts | undefined, said: NetworkFacts): NetworkFacts {
  const isPlaced = said.head !== undefined && said.final !== undefined
  return isPlaced ? said : (before ?? said)
}

const spanOf = (from: ChainMoment | undefined, to: ChainMoment | undefined): Span | undefined =>
  from === undefined || to === undefined ? undefined : { from, to }

const young = (sights: readonly Sight[], nowMs: number): readonly Sight[] =>
  sights.filter(({ seenAtMs }) => nowMs - seenAtMs <= paceWindowMs)
