import type { QuotePrice } from '@causeway/core/config'
import type { MarketLog } from '../ports.ts'
import type { SourceReading } from './source.ts'

/**
 * Rule on the sources of a price. `required`: two fresh sources that share no endpoint host. `single`: the
 * configuration has no two such sources, so no jump is ever confirmed. `exempt`: no rule, in the environment `local`.
 * @source rules
 */
export const secondSourceRules = ['required', 'single', 'exempt'] as const
export type SecondSource = (typeof secondSourceRules)[number]

/** Hosts through which sources are reached: the operator of a host controls everything read through it. */
export type SourceHosts = {
  /** True in the environment `local`, where one machine has everything. */
  readonly isExempt: boolean
  /** Host names of each chain's endpoints, by chain key; a chain without endpoints is absent. */
  readonly chains: ReadonlyMap<string, readonly string[]>
  /** Host name of each HTTP service that is switched on, by adapter name. */
  readonly adapters: ReadonlyMap<string, string>
}

/** Hosts of the environment `local`: no second source is needed. */
export const localHosts: SourceHosts = { isExempt: true, chains: new Map(), adapters: new Map() }

/** Hosts of a price's sources, and the rule that follows from them. */
export type SourcePlan = {
  /** By source name; pools have no entry, because they never count as a source. */
  readonly hostsOf: ReadonlyMap<string, ReadonlySet<string>>
  readonly secondSource: SecondSource
  /** Chains that need an endpoint before the price can be quoted; empty when it can be quoted now. */
  readonly lackingChains: readonly string[]
  /** Mistake in the configuration, in words for operators. */
  readonly problem: string | undefined
}

type PlannedPrice = Pick<QuotePrice, 'key' | 'http'> & {
  readonly feeds: readonly { readonly source: string; readonly chain: string }[]
}

/** Source name of an HTTP adapter. */
export function adapterSource(adapter: string): string {
  return `http ${adapter}`
}

/** The host name of an endpoint, which URLs write in lower case, without its port: two ports of one host are not independent. */
export function hostOf(url: string): string {
  return new URL(url).hostname
}

/**
 * Decides the second-source rule of a price. Its configured sources are all its feeds, and the HTTP services
 * that are switched on. Those of them are reached that are no feed of a chain without endpoints.
 * - `required`: two configured ones share no host; the price can be quoted once two reached ones share none.
 * - `single`: else; it can be quoted once one is reached.
 * - `problem`: several are reached, and all pairs of them share a host.
 */
export function planSources(price: PlannedPrice, sourceHosts: SourceHosts): SourcePlan {
  const hostsOf = new Map<string, ReadonlySet<string>>()
  for (const { source, chain } of price.feeds) {
    // A chain without endpoints counts as a host of its own.
    hostsOf.set(source, new Set(sourceHosts.chains.get(chain) ?? [`chain ${chain}`]))
  }
  for (const { adapter } of price.http) {
    const host = sourceHosts.adapters.get(adapter)
    if (host !== undefined) hostsOf.set(adapterSource(adapter), new Set([host]))
  }
  if (sourceHosts.isExempt) return { hostsOf, secondSource: 'exempt', lackingChains: [], problem: undefined }
  const configured = [...hostsOf.keys()]
  const missingFeeds = price.feeds.filter(({ chain }) => !sourceHosts.chains.has(chain))
  const reached = configured.filter((source) => !missingFeeds.some((feed) => feed.source === source))
  const reachesPair = hasIndependentPair(reached, hostsOf)
  const problem = `${price.key}: its sources (${reached.join(', ')}) are read through one endpoint host, so none of them is a second source; give one a host of its own, or leave only one`
  const secondSource = hasIndependentPair(configured, hostsOf) ? 'required' : 'single'
  const isEnough = secondSource === 'required' ? reachesPair : reached.length > 0
  return {
    hostsOf,
    secondSource,
    lackingChains: isEnough ? [] : missingFeeds.map(({ chain }) => chain),
    problem: reached.length > 1 && !reachesPair ? problem : undefined,
  }
}

/** True if two of the sources share no host. */
export function hasIndependentPair(sources: readonly string[], hostsOf: SourcePlan['hostsOf']): boolean {
  return sources.some((source, index) =>
    sources.slice(index + 1).some((other) => areApart(hostsOf.get(source), hostsOf.get(other))),
  )
}

function areApart(a: ReadonlySet<string> | undefined, b: ReadonlySet<string> | undefined): boolean {
  if (a === undefined || b === undefined) return false
  for (const host of a) if (b.has(host)) return false
  return true
}

/** True for feeds and HTTP services, which make or confirm a price; false for pools, which only guard one. */
export function isWitness({ kind }: Pick<SourceReading, 'kind'>): boolean {
  return kind !== 'pool'
}

/** Logs at start which prices need a second source, have only one, or lack a chain, before one is refused for it. */
export function logSecondSources(
  prices: readonly (Pick<SourcePlan, 'secondSource' | 'lackingChains'> & { readonly key: string })[],
  log: MarketLog,
): void {
  for (const { key, lackingChains } of prices)
    if (lackingChains.length > 0)
      log.warn(
        { price: key, chains: lackingChains },
        'price that is refused until one of these chains has an endpoint, or a price service is switched on',
      )
  const keysOf = (rule: SecondSource) =>
    prices.filter(({ secondSource }) => secondSource === rule).map(({ key }) => key)
  const exempt = keysOf('exempt')
  if (exempt.length > 0) {
    log.info({ prices: exempt }, 'local: prices need no second source here, and a jump confirms itself')
  }
  const required = keysOf('required')
  if (required.length > 0) {
    log.info({ prices: required }, 'prices that are refused while their second source is missing')
  }
  const single = keysOf('single')
  if (single.length > 0) {
    log.warn(
      { prices: single },
      'prices with one source: a jump is never confirmed, and the price stays refused until it is back or the service restarts',
    )
  }
}
