import type { ChainFacts } from '../chainState.ts'
import { headUsableUntilMs, isHeadAhead } from '../chainState.ts'
import type { MarketLimits } from '../limits.ts'
import type { ChainPlan, MarketPlan, PoolSourcePlan, PricePlan } from '../plan.ts'
import { aggregate } from './aggregate.ts'
import { feedValue } from './feedRound.ts'
import type { HttpQuote } from './http/adapter.ts'
import { poolPrice } from './poolPrice.ts'
import type { SourceFault, SourceReading, SourceValue } from './source.ts'

/** What one HTTP adapter answered last. */
export type HttpFacts = { readonly quotes: ReadonlyMap<string, HttpQuote>; readonly readAtMs: number }

export type SourceFacts = {
  readonly plan: MarketPlan
  /** By chain key; a chain that was never read is absent. */
  readonly chains: ReadonlyMap<string, ChainFacts>
  /** By adapter name; an adapter that is off or was never read is absent. */
  readonly http: ReadonlyMap<string, HttpFacts>
  readonly limits: MarketLimits
  readonly nowMs: number
}

/**
 * What every source says about every price. The other token of a pool is priced by its feeds and HTTP
 * sources alone, so that no price can confirm itself through a circle of pools.
 * @source pricing-engine.md 2.2, design.md 5.4
 */
export function readSources(facts: SourceFacts): ReadonlyMap<string, readonly SourceReading[]> {
  const chainPlans = new Map(facts.plan.chains.map((chain) => [chain.chainKey, chain]))
  const feedReadings = new Map(
    facts.plan.chains.flatMap((chain) => readFeeds(chain, facts)).map((reading) => [reading.source, reading]),
  )
  const direct = new Map(
    facts.plan.prices.map((price) => [price.key, readDirect(price, feedReadings, facts)]),
  )
  const anchors = new Map<string, bigint>()
  for (const { key, assetClass } of facts.plan.prices) {
    const price = aggregate({ readings: direct.get(key) ?? [], assetClass, nowMs: facts.nowMs })
    if ('usdX18' in price) anchors.set(key, price.usdX18)
  }
  return new Map(
    facts.plan.prices.map(({ key, pools }) => [
      key,
      [
        ...(direct.get(key) ?? []),
        ...pools.map((pool) => readPool(pool, chainPlans.get(pool.chainKey), anchors, facts)),
      ],
    ]),
  )
}

function readDirect(
  price: PricePlan,
  feeds: ReadonlyMap<string, SourceReading>,
  facts: SourceFacts,
): readonly SourceReading[] {
  return [
    ...price.feeds.map(({ source }) => feeds.get(source) ?? silent(source, 'feed')),
    ...price.http
      .filter(({ adapter }) => facts.http.has(adapter))
      .map(({ adapter, id }) => readHttp(adapter, id, facts)),
  ]
}

function readFeeds(chain: ChainPlan, facts: SourceFacts): readonly SourceReading[] {
  const chainFacts = facts.chains.get(chain.chainKey)
  if (chainFacts === undefined) return chain.feeds.map(({ source }) => silent(source, 'feed'))
  const { reading, readAtMs } = chainFacts
  return chain.feeds.map((feed, index) => {
    const { source } = feed
    const { round, identity } = reading.feeds[index] ?? {}
    const known = { source, kind: 'feed' as const, readAtMs, block: reading.contractsAt.block }
    if (round === undefined) return { ...known, result: { fault: 'no_answer' } }
    if (identity === undefined) return { ...known, result: { fault: 'unverified' } }
    if (identity.description !== feed.description || identity.decimals !== feed.decimals) {
      return { ...known, result: { fault: 'misdescribed' } }
    }
    const blockTimestampSeconds = reading.contractsAt.timestampSeconds
    const { decimals, heartbeatSeconds } = feed
    const result = feedValue({ round, decimals, heartbeatSeconds, blockTimestampSeconds })
    return { ...known, result: bounded(result, chain, chainFacts, facts) }
  })
}

function readPool(
  pool: PoolSourcePlan,
  chain: ChainPlan | undefined,
  anchors: ReadonlyMap<string, bigint>,
  facts: SourceFacts,
): SourceReading {
  const chainFacts = facts.chains.get(pool.chainKey)
  if (chainFacts === undefined || chain === undefined) return silent(pool.source, 'pool')
  const { reading, readAtMs } = chainFacts
  const known = { source: pool.source, kind: 'pool' as const, readAtMs, block: reading.head.number }
  const state = reading.pools.find(({ address }) => address === pool.pool)
  if (state === undefined) return { ...known, result: { fault: 'no_answer' } }
  const quoteUsdX18 = anchors.get(pool.quoteKey)
  if (quoteUsdX18 === undefined) return { ...known, result: { fault: 'unpriced_pair' } }
  const usdX18 = poolPrice({ ...pool, pool: state, quoteUsdX18 })
  if (typeof usdX18 === 'string') return { ...known, result: { fault: usdX18 } }
  const updatedAtMs = reading.head.timestampSeconds * 1_000
  const value = { usdX18, updatedAtMs, freshUntilMs: Number.MAX_SAFE_INTEGER }
  return { ...known, result: bounded(value, chain, chainFacts, facts) }
}

function readHttp(adapter: string, id: string, facts: SourceFacts): SourceReading {
  const source = `http ${adapter}`
  const answer = facts.http.get(adapter)
  if (answer === undefined) return silent(source, 'http')
  const result = answer.quotes.get(id) ?? { fault: 'no_answer' as const }
  return { source, kind: 'http', readAtMs: answer.readAtMs, result }
}

/** A value read on a chain counts no longer than the chain itself does. */
function bounded(
  value: SourceValue | { readonly fault: SourceFault },
  chain: ChainPlan,
  chainFacts: ChainFacts,
  facts: SourceFacts,
): SourceValue | { readonly fault: SourceFault } {
  if (!('usdX18' in value)) return value
  if (isHeadAhead(chainFacts, facts.limits, facts.nowMs)) return { fault: 'from_the_future' }
  const freshUntilMs = Math.min(
    value.freshUntilMs,
    chainFacts.readAtMs + facts.limits.sourceMaxAgeMs,
    headUsableUntilMs(chainFacts, chain.config),
  )
  return { ...value, freshUntilMs }
}

function silent(source: string, kind: SourceReading['kind']): SourceReading {
  return { source, kind, result: { fault: 'no_answer' } }
}
