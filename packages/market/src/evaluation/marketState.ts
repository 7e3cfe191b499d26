import type { CurrencyKey } from '@causeway/core'
import type { ChainReading } from '../chain/chainReading.ts'
import type { ChainFacts } from '../chain/chainState.ts'
import type { MarketLimits } from '../limits.ts'
import type { MarketPlan } from '../plan.ts'
import type { Clock } from '../ports.ts'
import type { Sample } from '../refreshedValue.ts'
import type { ChainBasis, ChainMarket, ChainRefusal, MarketSnapshot, PriceRefusal } from '../snapshot.ts'
import { type AgreementOf, chainBasis, witnessesOf } from './basis.ts'
import { type Evaluation, evaluate, type Scope } from './evaluate.ts'
import type { HttpFacts } from './readSources.ts'

/** The facts read so far and the snapshot that follows from them. Does no I/O. */
export type MarketState = {
  /** A pointer read, unless age alone changed something since the last call. */
  snapshot(): MarketSnapshot
  /** What the present snapshot was made of. */
  evaluation(): Evaluation
  chainFacts(chainKey: string): ChainFacts | undefined
  /** True while a jump that this chain showed waits for a second reading. */
  awaitsConfirmation(chainKey: string): boolean
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
  readonly agreementOf?: AgreementOf
}): MarketState {
  const { plan, limits, clock, reserved, agreementOf = () => undefined } = options
  const chains = new Map<string, ChainFacts>()
  const http = new Map<string, HttpFacts>()
  const listeners = new Set<(snapshot: MarketSnapshot) => void>()
  const factsNow = () => ({ plan, chains, http, limits, nowMs: clock.now() })
  let evaluation = evaluate(factsNow())
  const { shownPriceMaxAgeMs } = limits
  const snapshotOf = (version: number) =>
    buildSnapshot({
      ...{ version, takenAtMs: clock.now(), plan, evaluation, shownPriceMaxAgeMs },
      bases: new Map([...chains].map(([key, facts]) => [key, chainBasis(facts, agreementOf(key))])),
    })
  let snapshot = snapshotOf(1)

  /** @param scope left out: everything can have changed */
  function update(scope?: Scope): void {
    const before = evaluation
    const isAged = clock.now() >= before.changesAtMs
    evaluation = evaluate(factsNow(), before, isAged ? undefined : scope)
    if (!differs(before, evaluation)) return
    snapshot = snapshotOf(snapshot.version + 1)
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
    awaitsConfirmation(chainKey) {
      const touched = plan.pricesByChain.get(chainKey) ?? []
      return touched.some((key) => evaluation.prices.get(key)?.jump.pending !== undefined)
    },
    putChain(chainKey, { value, asOfMs }) {
      const reading = { ...value, inventory: spendable(value.inventory, reserved) }
      chains.set(chainKey, { reading, readAtMs: asOfMs })
      update({ prices: plan.pricesByChain.get(chainKey) ?? [], chains: [chainKey] })
    },
    putHttp(adapter, facts) {
      http.set(adapter, facts)
      update({ prices: [...plan.priceByKey.keys()], chains: [] })
    },
    onChange(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

/** Values that did not change keep their identity. */
function differs(before: Evaluation, after: Evaluation): boolean {
  for (const [key, { price }] of after.prices) if (before.prices.get(key)?.price !== price) return true
  for (const [key, { state }] of after.chains) if (before.chains.get(key)?.state !== state) return true
  return false
}

const noSource: PriceRefusal = Object.freeze({ reason: 'no_source' })
const noData: ChainRefusal = Object.freeze({ reason: 'no_data' })

function buildSnapshot(args: {
  readonly version: number
  readonly takenAtMs: number
  readonly plan: MarketPlan
  readonly evaluation: Evaluation
  readonly shownPriceMaxAgeMs: number
  /** By chain key. */
  readonly bases: ReadonlyMap<string, ChainBasis>
}): MarketSnapshot {
  const { version, takenAtMs, plan, evaluation, shownPriceMaxAgeMs, bases } = args
  const { prices } = evaluation
  const chains = new Map<number, ChainMarket | ChainRefusal>()
  const basisById = new Map<number, ChainBasis>()
  for (const [key, { state }] of evaluation.chains) {
    const chain = plan.chainByKey.get(key)
    if (chain?.quotable !== true) continue
    chains.set(chain.config.chainId, state)
    const basis = bases.get(key)
    if (basis !== undefined) basisById.set(chain.config.chainId, basis)
  }
  return Object.freeze({
    version,
    takenAtMs,
    price: (priceKey: string) => prices.get(priceKey)?.price ?? noSource,
    lastPrice(priceKey: string) {
      const published = prices.get(priceKey)?.jump.published
      return published === undefined || takenAtMs - published.readAtMs > shownPriceMaxAgeMs
        ? undefined
        : published.price
    },
    chain: (chainId: number) => chains.get(chainId) ?? noData,
    witnesses: (priceKey: string) => witnessesOf(prices.get(priceKey)?.readings ?? [], takenAtMs),
    basis: (chainId: number) => basisById.get(chainId),
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
