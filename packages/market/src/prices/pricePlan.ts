import type { AssetClass, Hex } from '@causeway/core'
import type { PriceFeed, QuoteChain, QuoteFile, QuotePrice } from '@causeway/core/config'
import { ethereumCodec } from '@causeway/core/encodings'
import { planSources, type SecondSource, type SourceHosts, type SourcePlan } from './secondSource.ts'

/** The part of a quote file that configures sources of prices. */
export type PriceConfig = Pick<QuoteFile, 'chains' | 'assets' | 'prices'>

/** A feed read on one chain. `source` names it to operators. */
export type FeedPlan = PriceFeed & { readonly source: string }

/** A pool as a source of one price: the other token's price times the pool's ratio. */
export type PoolSourcePlan = {
  /** Names the pool to operators. */
  readonly source: string
  readonly chainKey: string
  readonly pool: Hex
  readonly token: Hex
  readonly tokenDecimals: number
  readonly quoteDecimals: number
  /** Price key of the pool's other token. */
  readonly quoteKey: string
}

/** All sources of one price. */
export type PricePlan = {
  readonly key: string
  readonly assetClass: AssetClass
  readonly feeds: readonly FeedPlan[]
  readonly pools: readonly PoolSourcePlan[]
  readonly http: QuotePrice['http']
  /** Endpoint hosts behind each feed and HTTP source, by source name. */
  readonly hostsOf: SourcePlan['hostsOf']
  /** Rule that decides if this price needs two sources that share no endpoint host. */
  readonly secondSource: SecondSource
  /** Chains without endpoint whose feeds the price lacks; empty when it can be quoted without them. */
  readonly lackingChains: SourcePlan['lackingChains']
}

/** Resolves the sources of one price; what is wrong with them is added to `problems`. */
export function planPrice(args: {
  readonly file: PriceConfig
  readonly price: QuotePrice
  readonly sourceHosts: SourceHosts
  readonly problems: string[]
}): PricePlan {
  const { file, price, sourceHosts, problems } = args
  for (const { chain } of price.feeds) {
    if (file.chains[chain] === undefined) problems.push(`${price.key}: its feed chain ${chain} is not listed`)
  }
  const feeds = price.feeds.map((feed) => ({ ...feed, source: `feed ${feed.chain} ${feed.address}` }))
  const { hostsOf, secondSource, lackingChains, problem } = planSources({ ...price, feeds }, sourceHosts)
  if (problem !== undefined) problems.push(problem)
  if (price.pools.length > 0 && feeds.length + price.http.length === 0) {
    problems.push(`${price.key}: pools guard a price and make none; it needs a feed or an HTTP source`)
  }
  return {
    key: price.key,
    assetClass: price.class,
    feeds,
    hostsOf,
    secondSource,
    lackingChains,
    pools: price.pools.flatMap((pool) => planPoolSource(file, price.key, pool, problems)),
    http: price.http,
  }
}

function planPoolSource(
  file: PriceConfig,
  priceKey: string,
  reference: QuotePrice['pools'][number],
  problems: string[],
): PoolSourcePlan[] {
  const { chain: chainKey, pool, token } = reference
  const complain = (problem: string) => {
    problems.push(`${priceKey}: pool ${pool} on ${chainKey}: ${problem}`)
    return []
  }
  const chain = file.chains[chainKey]
  if (chain === undefined) return complain('the chain is not listed')
  const config = chain.uniswapV3?.pools.find(({ address }) => address === pool)
  if (config === undefined) return complain('it is not among the pools of the chain')
  if (token !== config.token0 && token !== config.token1) return complain(`it does not hold ${token}`)
  const own = currencyAt(chain, token)
  const other = currencyAt(chain, token === config.token0 ? config.token1 : config.token0)
  if (own === undefined || other === undefined) return complain('one of its tokens is no listed currency')
  const quoteKey = file.assets.find(({ id }) => id === other.asset)?.priceKey
  if (quoteKey === undefined || !file.prices.some(({ key }) => key === quoteKey)) {
    return complain(`its other token ${other.symbol} has no price`)
  }
  const source = `pool ${chainKey} ${pool}`
  return [
    { source, chainKey, pool, token, tokenDecimals: own.decimals, quoteDecimals: other.decimals, quoteKey },
  ]
}

const evm = ethereumCodec
const nativeAddress = evm.canonicalAddress(evm.nativeCurrency)

/** The currency at an address; the wrapped native token counts as the native currency when unlisted. */
function currencyAt(chain: QuoteChain, address: Hex): QuoteChain['currencies'][number] | undefined {
  const findListed = (listedAddress: string) =>
    chain.currencies.find((currency) => evm.canonicalAddress(currency.address) === listedAddress)
  return findListed(address) ?? (address === chain.wrappedNative ? findListed(nativeAddress) : undefined)
}
