import type { CurrencyKey } from '@causeway/core'
import type { Sample } from './cell.ts'
import type { ChainReading } from './chainReading.ts'
import type { ChainFacts } from './chainState.ts'
import type { Clock } from './clock.ts'
import { type Evaluation, evaluate } from './evaluate.ts'
import { gasSampleCount } from './gasJump.ts'
import type { MarketLimits } from './limits.ts'
import type { MarketPlan } from './plan.ts'
import type { HttpFacts } from './prices/readSources.ts'
import { sameChain, samePrice } from './same.ts'
import type { ChainMarket, ChainRefusal, MarketSnapshot, PriceRefusal, UsdPrice } from './snapshot.ts'

/** The facts read so far and the snapshot that follows from them. Does no I/O. */
export type MarketState = {
  /** A pointer read, unless age alone changed something since the last call. */
  snapshot(): MarketSnapshot
  /** What the present snapshot was made of. */
  evaluation(): Evaluation
  chainFacts(chainKey: string): ChainFacts | undefined
  putChain(chainKey: string, sample: Sample<ChainReading>): void
  putHttp(adapter: string, facts: HttpFacts): void
  /** Calls `listener` with each new snapshot; returns what ends that. */
  onChange(listener: (snapshot: MarketSnapshot) => void): () => void
}

export function createMarketState(options: {
  readonly plan: MarketPlan
  readonly limits: MarketLimits
  readonly clock: Clock
  /** Part of a balance that is promised already. */
  readonly reserved?: (key: CurrencyKey) => bigint
}): MarketState {
  const { plan, limits, clock, reserved } = options
  const chains = new Map<string, ChainFacts>()
  const http = new Map<string, HttpFacts>()
  const listeners = new Set<(snapshot: MarketSnapshot) => void>()
  const factsNow = () => ({ plan, chains, http, limits, nowMs: clock.now() })
  let evaluation = evaluate(factsNow(), new Map())
  let values = valuesOf(evaluation, undefined)
  let snapshot = buildSnapshot(1, clock.now(), values)

  function update(): void {
    evaluation = evaluate(factsNow(), evaluation.jumps)
    const next = valuesOf(evaluation, values)
    if (!next.changed) return
    values = next
    snapshot = buildSnapshot(snapshot.version + 1, clock.now(), values)
    for (const listener of listeners) listener(snapshot)
  }

  function updateIfAged(): void {
    if (clock.now() >= evaluation.changesAtMs) update()
  }

  return {
    snapshot() {
      updateIfAged()
      return snapshot
    },
    evaluation() {
      updateIfAged()
      return evaluation
    },
    chainFacts: (chainKey) => chains.get(chainKey),
    putChain(chainKey, { value, asOfMs }) {
      const earlier = chains.get(chainKey)?.gasSamples ?? []
      const gasSamples = [...earlier, value.gasPrice].slice(-gasSampleCount)
      const reading = { ...value, inventory: spendable(value.inventory, reserved) }
      chains.set(chainKey, { reading, readAtMs: asOfMs, gasSamples })
      update()
    },
    putHttp(adapter, facts) {
      http.set(adapter, facts)
      update()
    },
    onChange(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

type Values = {
  readonly prices: ReadonlyMap<string, UsdPrice | PriceRefusal>
  readonly chains: ReadonlyMap<number, ChainMarket | ChainRefusal>
  readonly changed: boolean
}

/** The values of an evaluation; those that did not change keep the identity they had. */
function valuesOf(evaluation: Evaluation, previous: Values | undefined): Values {
  let changed = false
  const keep = <T>(before: T | undefined, next: T, same: (a: T, b: T) => boolean): T => {
    if (before !== undefined && same(before, next)) return before
    changed = true
    return next
  }
  const prices = new Map(
    [...evaluation.prices].map(([key, { price }]) => [
      key,
      keep(previous?.prices.get(key), price, samePrice),
    ]),
  )
  const chains = new Map(
    [...evaluation.chains].map(([id, chain]) => [id, keep(previous?.chains.get(id), chain, sameChain)]),
  )
  return { prices, chains, changed }
}

const noSource: PriceRefusal = Object.freeze({ reason: 'no_source' })
const noData: ChainRefusal = Object.freeze({ reason: 'no_data' })

function buildSnapshot(version: number, takenAtMs: number, { prices, chains }: Values): MarketSnapshot {
  return Object.freeze({
    version,
    takenAtMs,
    price: (priceKey: string) => prices.get(priceKey) ?? noSource,
    chain: (chainId: number) => chains.get(chainId) ?? noData,
  })
}

function spendable(
  balances: ReadonlyMap<CurrencyKey, bigint>,
  reserved: ((key: CurrencyKey) => bigint) | undefined,
): ReadonlyMap<CurrencyKey, bigint> {
  if (reserved === undefined) return balances
  return new Map(
    [...balances].map(([key, balance]) => {
      const left = balance - reserved(key)
      return [key, left > 0n ? left : 0n]
    }),
  )
}
