import type { AgreementReport } from '@causeway/families'
import type { AgreedKind } from '../chain/chainReading.ts'
import type { ChainFacts } from '../chain/chainState.ts'
import type { MarketPlan } from '../plan.ts'
import { isWitness } from '../prices/secondSource.ts'
import { isFresh, type SourceReading } from '../prices/source.ts'
import type {
  ChainBasis,
  ChainMarket,
  ChainRefusal,
  MarketSnapshot,
  PriceRefusal,
  PriceWitness,
} from '../snapshot.ts'
import type { Evaluation } from './evaluate.ts'

/** Looks up how many endpoints agreed in the last reading of a chain, by kind of data; undefined before the first. */
export type AgreementOf = (chainKey: string) => ReadonlyMap<AgreedKind, AgreementReport> | undefined

const noSource: PriceRefusal = Object.freeze({ reason: 'no_source' })
const noData: ChainRefusal = Object.freeze({ reason: 'no_data' })

/** The evaluation of one moment, and what a snapshot tells beside it. */
type SnapshotFacts = {
  readonly version: number
  readonly takenAtMs: number
  readonly plan: MarketPlan
  readonly evaluation: Evaluation
  readonly shownPriceMaxAgeMs: number
  /** By chain key. */
  readonly chainFacts: ReadonlyMap<string, ChainFacts>
  readonly agreementOf: AgreementOf
}

/** Makes the immutable view of the market that quotes are computed from. */
export function buildSnapshot(snapshotFacts: SnapshotFacts): MarketSnapshot {
  const { version, takenAtMs, plan, evaluation, shownPriceMaxAgeMs } = snapshotFacts
  const { prices } = evaluation
  const chains = new Map<number, ChainMarket | ChainRefusal>()
  const basisById = new Map<number, ChainBasis>()
  for (const [key, { state }] of evaluation.chains) {
    const chain = plan.chainByKey.get(key)
    if (chain?.quotable !== true) continue
    chains.set(chain.config.chainId, state)
    const facts = snapshotFacts.chainFacts.get(key)
    if (facts !== undefined)
      basisById.set(chain.config.chainId, chainBasis(facts, snapshotFacts.agreementOf(key)))
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
  // Chains without contract calls report on the head alone.
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
