import type { CurrencyKey } from '@causeway/core'
import type { AgreementReport } from '@causeway/families'
import type { AgreedKind, ChainReading } from '../chain/chainReading.ts'
import { type ChainFacts, chainFacts } from '../chain/chainState.ts'
import type { MarketLimits } from '../limits.ts'
import type { MarketPlan } from '../plan.ts'
import type { Clock } from '../ports.ts'
import { isWitness } from '../prices/secondSource.ts'
import { isFresh, type SourceReading } from '../prices/source.ts'
import type { Sample } from '../refreshedValue.ts'
import type {
  ChainBasis,
  ChainMarket,
  ChainRefusal,
  MarketSnapshot,
  PriceRefusal,
  PriceWitness,
} from '../snapshot.ts'
import { type Evaluation, evaluate, type Scope } from './evaluate.ts'
import type { HttpFacts } from './readSources.ts'

/** Looks up how many endpoints agreed in the last reading of a chain, by kind of data; undefined before the first. */
export type AgreementOf = (chainKey: string) => ReadonlyMap<AgreedKind, AgreementReport> | undefined

/** Keeps the facts that `runMarket` puts in and the snapshot that follows from them. Does no I/O. */
export type MarketState = {
  /** The present snapshot. It is evaluated anew only if age alone changed something since the last call. */
  snapshot(): MarketSnapshot
  /** Evaluation behind the present snapshot. */
  evaluation(): Evaluation
  chainFacts(chainKey: string): ChainFacts | undefined
  /** True while a jump that this chain showed waits for a second reading. */
  awaitsConfirmation(chainKey: string): boolean
  putChain(chainKey: string, sample: Sample<ChainReading>): void
  putHttp(adapter: string, facts: HttpFacts): void
  /** Calls `listener` with each new snapshot. @returns a function that ends this */
  onChange(listener: (snapshot: MarketSnapshot) => void): () => void
}

type MarketStateOptions = {
  readonly plan: MarketPlan
  readonly limits: MarketLimits
  readonly clock: Clock
  /** Part of a balance that is promised already. */
  readonly reserved?: (key: CurrencyKey) => bigint
  readonly agreementOf?: AgreementOf
}

export function createMarketState(options: MarketStateOptions): MarketState {
  const { plan, limits, clock, reserved, agreementOf = () => undefined } = options
  const chains = new Map<string, ChainFacts>()
  const http = new Map<string, HttpFacts>()
  const listeners = new Set<(snapshot: MarketSnapshot) => void>()
  const factsNow = () => ({ plan, chains, http, limits, nowMs: clock.now() })
  let evaluation = evaluate(factsNow())
  const { shownPriceMaxAgeMs } = limits
  const snapshotOf = (version: number) =>
    buildSnapshot({
      version,
      takenAtMs: clock.now(),
      plan,
      evaluation,
      shownPriceMaxAgeMs,
      bases: new Map([...chains].map(([key, facts]) => [key, chainBasis(facts, agreementOf(key))])),
    })
  let snapshot = snapshotOf(1)

  /** @param scope what new facts may have changed; left out: everything */
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
      const priceKeys = plan.pricesByChain.get(chainKey) ?? []
      return priceKeys.some((key) => evaluation.prices.get(key)?.jump.pending !== undefined)
    },
    putChain(chainKey, { value, asOfMs }) {
      const reading = { ...value, inventory: spendable(value.inventory, reserved) }
      const config = plan.chainByKey.get(chainKey)?.config
      chains.set(chainKey, chainFacts(chains.get(chainKey), { reading, readAtMs: asOfMs }, config))
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

/** True if a price or a chain's state changed: `evaluate` keeps the object of each unchanged one. */
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

/** Balances less what is promised already, at least zero. */
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

/** The fresh sources that made or confirmed a price. */
function witnessesOf(readings: readonly SourceReading[], nowMs: number): readonly PriceWitness[] {
  return readings.flatMap((reading) => {
    if (!isWitness(reading) || !isFresh(reading, nowMs)) return []
    const { source, block, result } = reading
    const { usdX18, updatedAtMs } = result
    return [{ source, usdX18, updatedAtMs, ...(block !== undefined && { block }) }]
  })
}

/** Origin of a chain's values, which a quote stores to explain its price later. */
function chainBasis({ reading }: ChainFacts, reports: ReturnType<AgreementOf>): ChainBasis {
  const { head, fees } = reading
  const agreed = reports?.get('state') ?? reports?.get('head')
  return {
    block: head.number,
    ...(head.hash !== undefined && { hash: head.hash }),
    ...(fees.shown !== undefined && { networkFee: networkFeeText(fees.shown) }),
    ...(agreed !== undefined && { agreed: agreed.agreed, configured: agreed.configured }),
  }
}

function networkFeeText(shown: NonNullable<ChainFacts['reading']['fees']['shown']>): string {
  if ('expectedWei' in shown) return `${shown.expectedWei} wei per gas`
  if ('satPerKvb' in shown) return `${shown.satPerKvb} satoshi per thousand virtual bytes`
  if ('sunPerEnergy' in shown) return `${shown.sunPerEnergy} sun per energy`
  if ('transferFee' in shown) return `${shown.transferFee} for each transfer`
  return `${shown.microLamportsPerUnit} micro-lamports per compute unit`
}
