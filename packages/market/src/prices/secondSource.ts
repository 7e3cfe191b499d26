import type { QuotePrice } from '@causeway/core/config'
import type { MarketLog } from '../ports.ts'
import type { SourceReading } from './source.ts'

/**
 * Rule on the sources of a price: `required`, two fresh ones that share no endpoint host; `single`, only one
 * such source is configured, so no jump of it is ever confirmed; `exempt`, as `local` is.
 * @source rules
 */
export const secondSourceRules = ['required', 'single', 'exempt'] as const
export type SecondSource = (typeof secondSourceRules)[number]

/** Hosts through which sources are reached: the operator of a host controls everything read through it. */
export type SourceHosts = {
  /** `local` has one machine for everything. */
  readonly isExempt: boolean
  /** Host names of each chain's endpoints, by chain key; a chain without endpoints is absent. */
  readonly chains: ReadonlyMap<string, readonly string[]>
  /** Host name of each HTTP service that is switched on, by adapter name. */
  readonly adapters: ReadonlyMap<string, string>
}

/** Nothing is asked of second sources. */
export const localHosts: SourceHosts = { isExempt: true, chains: new Map(), adapters: new Map() }

export type SourcePlan = {
  /** By source name; pools have no entry, because they never count as a source. */
  readonly hostsOf: ReadonlyMap<string, ReadonlySet<string>>
  readonly secondSource: SecondSource
  /** Chains whose endpoints would let the price be quoted; empty when it can be with what there is. */
  readonly lackingChains: readonly string[]
  readonly problem: string | undefined
}

type PlannedPrice = Pick<QuotePrice, 'key' | 'http'> & {
  readonly feeds: readonly { readonly source: string; readonly chain: string }[]
}

export function adapterSource(adapter: string): string {
  return `http ${adapter}`
}

/** The lower-case host name of an endpoint: two ports of one host are one voice. */
export function hostOf(url: string): string {
  return new URL(url).hostname.toLowerCase()
}

/**
 * Which sources of a price count apart. An HTTP source counts where its service is switched on; a feed
 * always does, so a feed whose chain has no endpoint is configured and missing.
 */
export function planSources(price: PlannedPrice, reach: SourceHosts): SourcePlan {
  const hostsOf = new Map<string, ReadonlySet<string>>()
  for (const { source, chain } of price.feeds) {
    hostsOf.set(source, new Set(reach.chains.get(chain) ?? [`chain ${chain}`]))
  }
  for (const { adapter } of price.http) {
    const host = reach.adapters.get(adapter)
    if (host !== undefined) hostsOf.set(adapterSource(adapter), new Set([host]))
  }
  if (reach.isExempt) return { hostsOf, secondSource: 'exempt', lackingChains: [], problem: undefined }
  const sources = [...hostsOf.keys()]
  const silent = price.feeds.filter(({ chain }) => !reach.chains.has(chain))
  const reached = sources.filter((source) => !silent.some((feed) => feed.source === source))
  const isApart = hasIndependentPair(reached, hostsOf)
  const problem = `${price.key}: its sources (${reached.join(', ')}) are read through one endpoint host, so none of them is a second source; give one a host of its own, or leave only one`
  const secondSource = hasIndependentPair(sources, hostsOf) ? 'required' : 'single'
  const isEnough = secondSource === 'required' ? isApart : reached.length > 0
  return {
    ...{ hostsOf, secondSource },
    lackingChains: isEnough ? [] : silent.map(({ chain }) => chain),
    problem: reached.length > 1 && !isApart ? problem : undefined,
  }
}

/** True when two of the sources are reached through no common host. */
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

/** Feeds and HTTP services make a price; a pool is cheap to move and only stands guard. */
export function isWitness({ kind }: Pick<SourceReading, 'kind'>): boolean {
  return kind !== 'pool'
}

/** Says at start what the second source of each price is worth, so that nobody finds out by a refusal. */
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
  const [required, single, exempt] = secondSourceRules.map(keysOf)
  if (exempt !== undefined && exempt.length > 0) {
    log.info({ prices: exempt }, 'local: prices need no second source here, and a jump confirms itself')
  }
  if (required !== undefined && required.length > 0) {
    log.info({ prices: required }, 'prices that are refused while their second source is missing')
  }
  if (single !== undefined && single.length > 0) {
    log.warn(
      { prices: single },
      'prices with one source: a jump is never confirmed, and the price stays refused until it is back or the service restarts',
    )
  }
}
