import { type CurrencyKey, maxBigint } from '@causeway/core'
import type { ChainReading } from '../chain/chainReading.ts'
import { type ChainFacts, chainFacts } from '../chain/chainState.ts'
import type { MarketLimits } from '../limits.ts'
import type { MarketPlan } from '../plan.ts'
import type { Clock } from '../ports.ts'
import type { Sample } from '../refreshedValue.ts'
import type { MarketSnapshot } from '../snapshot.ts'
import { type AgreementOf, buildSnapshot } from './buildSnapshot.ts'
import { type Evaluation, evaluate, type Scope } from './evaluate.ts'
import type { HttpFacts } from './readSources.ts'

type MarketStateOptions = {
  readonly plan: MarketPlan
  readonly limits: MarketLimits
  readonly clock: Clock
  /** Part of a balance that is promised already. */
  readonly reserved?: (key: CurrencyKey) => bigint
  readonly agreementOf?: AgreementOf
}

export const createMarketState = (options: MarketStateOptions): MarketState => new MarketState(options)

/** Keeps the facts that `runMarket` puts in and the snapshot that follows from them. Does no I/O. */
export class MarketState {
  readonly #options: MarketStateOptions
  readonly #chains = new Map<string, ChainFacts>()
  readonly #http = new Map<string, HttpFacts>()
  readonly #listeners = new Set<(snapshot: MarketSnapshot) => void>()
  #evaluation: Evaluation
  #snapshot: MarketSnapshot

  constructor(options: MarketStateOptions) {
    this.#options = options
    this.#evaluation = evaluate(this.#factsNow())
    this.#snapshot = this.#buildSnapshot(1)
  }

  /** The present snapshot. It is evaluated anew only if age alone changed something since the last call. */
  snapshot(): MarketSnapshot {
    this.#updateIfAged()
    return this.#snapshot
  }

  /** Evaluation behind the present snapshot. */
  evaluation(): Evaluation {
    this.#updateIfAged()
    return this.#evaluation
  }

  chainFacts(chainKey: string): ChainFacts | undefined {
    return this.#chains.get(chainKey)
  }

  /** True while a jump that this chain showed waits for a second reading. */
  awaitsConfirmation(chainKey: string): boolean {
    const priceKeys = this.#options.plan.pricesByChain.get(chainKey)
    return priceKeys?.some((key) => this.#evaluation.prices.get(key)?.jump.pending !== undefined) === true
  }

  /** Takes a new reading, less what is promised now: later promises count from the next reading on. */
  putChain(chainKey: string, { value, asOfMs }: Sample<ChainReading>): void {
    const { plan, reserved, clock } = this.#options
    const reading = { ...value, inventory: spendable(value.inventory, reserved) }
    const config = plan.chainByKey.get(chainKey)?.config
    const before = this.#chains.get(chainKey)
    // A clock that was set ahead makes no chain look as if it had stood.
    const earliestAtMs = asOfMs - Math.max(clock.now() - clock.steadyNow(), 0)
    this.#chains.set(chainKey, chainFacts(before, { reading, readAtMs: asOfMs, earliestAtMs }, config))
    this.#update({ prices: plan.pricesByChain.get(chainKey) ?? [], chains: [chainKey] })
  }

  putHttp(adapter: string, facts: HttpFacts): void {
    this.#http.set(adapter, facts)
    this.#update({ prices: [...this.#options.plan.priceByKey.keys()], chains: [] })
  }

  /** Calls `listener` with each new snapshot. @returns a function that ends this */
  onChange(listener: (snapshot: MarketSnapshot) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  #updateIfAged(): void {
    if (this.#options.clock.now() >= this.#evaluation.changesAtMs) this.#update()
  }

  /** Evaluates anew, and tells listeners of a change. @param scope keys that new facts may have changed; left out: all */
  #update(scope?: Scope): void {
    const before = this.#evaluation
    // Age may have changed any price or chain, so then all are evaluated.
    const isAged = this.#options.clock.now() >= before.changesAtMs
    this.#evaluation = evaluate(this.#factsNow(), before, isAged ? undefined : scope)
    if (!differs(before, this.#evaluation)) return
    this.#snapshot = this.#buildSnapshot(this.#snapshot.version + 1)
    for (const listener of this.#listeners) listener(this.#snapshot)
  }

  #factsNow() {
    const { plan, limits, clock } = this.#options
    return { plan, chains: this.#chains, http: this.#http, limits, nowMs: clock.now() }
  }

  #buildSnapshot(version: number): MarketSnapshot {
    const { plan, limits, clock, agreementOf = () => undefined } = this.#options
    return buildSnapshot({
      version,
      takenAtMs: clock.now(),
      plan,
      evaluation: this.#evaluation,
      shownPriceMaxAgeMs: limits.shownPriceMaxAgeMs,
      chainFacts: this.#chains,
      agreementOf,
    })
  }
}

/** True if a price or a chain's state changed: `evaluate` keeps the object of each unchanged one. */
function differs(before: Evaluation, after: Evaluation): boolean {
  for (const [key, { price }] of after.prices) if (before.prices.get(key)?.price !== price) return true
  for (const [key, { state }] of after.chains) if (before.chains.get(key)?.state !== state) return true
  return false
}

/** Balances less what is promised already, at least zero. */
function spendable(
  balances: ReadonlyMap<CurrencyKey, bigint>,
  reserved: ((key: CurrencyKey) => bigint) | undefined,
): ReadonlyMap<CurrencyKey, bigint> {
  if (reserved === undefined) return balances
  return new Map([...balances].map(([key, balance]) => [key, maxBigint(balance - reserved(key), 0n)]))
}
