import type { QuoteChain } from '@causeway/core/config'
import type { ChainReading } from '../chain/chainReading.ts'
import { type ChainFacts, headUsableUntilMs, isHeadAhead } from '../chain/chainState.ts'
import type { MarketLimits } from '../limits.ts'
import type { MarketPlan } from '../plan.ts'
import { aggregate } from '../prices/aggregate.ts'
import { feedValue } from '../prices/feedRound.ts'
import { classGuards } from '../prices/guards.ts'
import type { HttpPriceAdapter, HttpQuote } from '../prices/http/adapter.ts'
import { poolPrice } from '../prices/poolPrice.ts'
import type { FeedPlan, PoolSourcePlan, PricePlan } from '../prices/pricePlan.ts'
import { adapterSource } from '../prices/secondSource.ts'
import { sequencerFault } from '../prices/sequencer.ts'
import type { SourceFault, SourceReading, SourceValue } from '../prices/source.ts'

/** Last answer of one HTTP adapter. */
export type HttpFacts = {
  readonly kind: HttpPriceAdapter['kind']
  /** By the adapter's id of the asset. */
  readonly quotes: ReadonlyMap<string, HttpQuote>
  readonly readAtMs: number
}

/** Everything that was read, and the moment at which it is evaluated. */
export type MarketFacts = {
  readonly plan: MarketPlan
  /** By chain key; a chain that was never read is absent. */
  readonly chains: ReadonlyMap<string, ChainFacts>
  /** By adapter name; an adapter that is off or was never read is absent. */
  readonly http: ReadonlyMap<string, HttpFacts>
  readonly limits: MarketLimits
  readonly nowMs: number
}

type Result = SourceValue | { readonly fault: SourceFault }

/** Reads the sources of a price out of the facts. */
export type SourceReader = (price: PricePlan) => readonly SourceReading[]

/**
 * Makes a reader of all sources of prices: feeds, HTTP services and pools. The other token of a pool is priced by its
 * own feeds and HTTP sources alone (its direct price), so that no price can confirm itself through a circle of pools.
 * @source rule Q-174
 */
export function createSourceReader(facts: MarketFacts): SourceReader {
  const directPrices = new Map<string, bigint | undefined>()
  const directPriceOf = (key: string): bigint | undefined => {
    if (!directPrices.has(key)) directPrices.set(key, directPrice(facts.plan.priceByKey.get(key), facts))
    return directPrices.get(key)
  }
  return (price) => [
    ...readDirect(price, facts),
    ...price.pools.map((pool) => readPool(price, pool, { quoteUsdX18: directPriceOf(pool.quoteKey), facts })),
  ]
}

/** Price by feeds and HTTP sources alone; undefined where these support none. */
function directPrice(price: PricePlan | undefined, facts: MarketFacts): bigint | undefined {
  if (price === undefined) return undefined
  const { assetClass, hostsOf, secondSource } = price
  const readings = readDirect(price, facts)
  const direct = aggregate({ readings, assetClass, hostsOf, secondSource, nowMs: facts.nowMs })
  return 'usdX18' in direct ? direct.usdX18 : undefined
}

function readDirect(price: PricePlan, facts: MarketFacts): readonly SourceReading[] {
  return [
    ...price.feeds.map((feed) => readFeed(feed, facts)),
    ...price.http.flatMap(({ adapter, id }) => readHttp(adapter, id, facts)),
  ]
}

/** A chain of the plan and the newest reading of it. */
type ReadChain = { readonly config: QuoteChain; readonly chainFacts: ChainFacts }

/** Undefined before the chain's first reading. */
function readChain(chainKey: string, { plan, chains }: MarketFacts): ReadChain | undefined {
  const config = plan.chainByKey.get(chainKey)?.config
  const chainFacts = chains.get(chainKey)
  return config === undefined || chainFacts === undefined ? undefined : { config, chainFacts }
}

function readFeed(feed: FeedPlan, facts: MarketFacts): SourceReading {
  const { source } = feed
  const chain = readChain(feed.chain, facts)
  if (chain === undefined) return { source, kind: 'feed', result: { fault: 'no_answer' } }
  const { reading, readAtMs } = chain.chainFacts
  const result = limitByChain(feedResult(feed, chain), chain, facts)
  return { source, kind: 'feed', readAtMs, block: reading.contractsAt.block, result }
}

function feedResult(feed: FeedPlan, { config, chainFacts: { reading, wentOnAtSeconds } }: ReadChain): Result {
  const { round, identity } = reading.feeds.get(feed.address) ?? {}
  if (round === undefined) return { fault: 'no_answer' }
  if (identity === undefined) return { fault: 'unverified' }
  const { description, decimals, heartbeatSeconds } = feed
  if (identity.description !== description || identity.decimals !== decimals) return { fault: 'misdescribed' }
  const blockTimestampSeconds = reading.contractsAt.timestampSeconds
  // While the sequencer is down its feeds are not updated, so they count for nothing, however young the last round is.
  if (config.sequencerUptimeFeed !== undefined) {
    const fault = sequencerFault(reading.sequencer, blockTimestampSeconds)
    if (fault !== undefined) return { fault }
  }
  // The chain stood still after this round and went on: the round may be outdated.
  if (wentOnAtSeconds !== undefined && round.updatedAtSeconds <= BigInt(wentOnAtSeconds))
    return { fault: 'older_than_stop' }
  return feedValue({ round, decimals, heartbeatSeconds, blockTimestampSeconds })
}

function readPool(
  price: PricePlan,
  pool: PoolSourcePlan,
  { quoteUsdX18, facts }: { readonly quoteUsdX18: bigint | undefined; readonly facts: MarketFacts },
): SourceReading {
  const { source, chainKey } = pool
  const chain = readChain(chainKey, facts)
  if (chain === undefined) return { source, kind: 'pool', result: { fault: 'no_answer' } }
  const { reading, readAtMs } = chain.chainFacts
  const result = limitByChain(poolResult(price, pool, { quoteUsdX18, reading }), chain, facts)
  return { source, kind: 'pool', readAtMs, block: reading.head.number, result }
}

function poolResult(
  { assetClass }: PricePlan,
  pool: PoolSourcePlan,
  { quoteUsdX18, reading }: { readonly quoteUsdX18: bigint | undefined; readonly reading: ChainReading },
): Result {
  const state = reading.pools.find(({ address }) => address === pool.pool)
  if (state === undefined) return { fault: 'no_answer' }
  if (quoteUsdX18 === undefined) return { fault: 'unpriced_pair' }
  // The pool's state takes the place of its address.
  const usdX18 = poolPrice({ ...pool, pool: state, quoteUsdX18, guardBps: classGuards[assetClass].hardBps })
  if (typeof usdX18 === 'string') return { fault: usdX18 }
  const updatedAtMs = reading.head.timestampSeconds * 1_000
  // A pool's price has no age limit of its own; `limitByChain` sets that of its chain.
  return { usdX18, updatedAtMs, freshUntilMs: Number.MAX_SAFE_INTEGER }
}

/** The reading of an HTTP source; none of an adapter that is switched off or was never read. */
function readHttp(adapter: string, id: string, { http }: MarketFacts): readonly SourceReading[] {
  const answer = http.get(adapter)
  if (answer === undefined) return []
  const result = answer.quotes.get(id) ?? { fault: 'no_answer' as const }
  const { kind, readAtMs } = answer
  return [{ source: adapterSource(adapter), kind, readAtMs, result }]
}

/** Limits a value that was read on a chain: it counts no longer than the chain's reading and head do. */
function limitByChain(
  result: Result,
  { config, chainFacts }: ReadChain,
  { limits, nowMs }: MarketFacts,
): Result {
  if (!('usdX18' in result)) return result
  if (isHeadAhead(chainFacts, limits, nowMs)) return { fault: 'from_the_future' }
  const freshUntilMs = Math.min(
    result.freshUntilMs,
    chainFacts.readAtMs + limits.sourceMaxAgeMs,
    headUsableUntilMs(chainFacts, config),
  )
  return { ...result, freshUntilMs }
}
