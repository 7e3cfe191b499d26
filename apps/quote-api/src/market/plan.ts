import {
  type AssetClass,
  ConfigurationError,
  type CurrencyKey,
  currencyKey,
  ethereumCodec,
  type Hex,
  type PoolConfig,
  type PriceFeed,
  type QuoteChain,
  type QuoteFile,
  type QuotePrice,
} from '@causeway/core'
import {
  localReach,
  planVoices,
  type SecondSource,
  type SourceReach,
  type VoicePlan,
} from './prices/secondSource.ts'

/** A feed read on one chain. `source` names it to operators. */
export type FeedPlan = PriceFeed & { readonly source: string }

/** A solver balance to read; without a token it is the native currency. */
export type BalancePlan = { readonly key: CurrencyKey; readonly token: Hex | undefined }

/** Everything that is read of one chain. */
export type ChainPlan = {
  readonly chainKey: string
  readonly config: QuoteChain
  /** False for a chain that is only read for its feeds and pools: it is never priced itself. */
  readonly quotable: boolean
  readonly feeds: readonly FeedPlan[]
  readonly balances: readonly BalancePlan[]
  readonly pools: readonly PoolConfig[]
}

/** A pool as a source of one price: the other token's price times the pool's ratio. */
export type PoolSourcePlan = {
  readonly source: string
  readonly chainKey: string
  readonly pool: Hex
  readonly token: Hex
  readonly tokenDecimals: number
  readonly quoteDecimals: number
  /** Price of the pool's other token. */
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
  readonly hostsOf: VoicePlan['hostsOf']
  /** Whether this price needs two sources that share no endpoint host. */
  readonly secondSource: SecondSource
}

export type MarketPlan = {
  readonly chains: readonly ChainPlan[]
  readonly chainByKey: ReadonlyMap<string, ChainPlan>
  readonly prices: readonly PricePlan[]
  readonly priceByKey: ReadonlyMap<string, PricePlan>
  /** Keys of the prices that a reading of each chain can change. */
  readonly pricesByChain: ReadonlyMap<string, readonly string[]>
}

/**
 * Resolves the names in a quote file to what is read where.
 * @param reach which endpoint hosts each source is read through
 * @throws ConfigurationError that names every reference without a target, and every price whose sources are
 * several and none of them is apart from the others
 */
export function planMarket(file: QuoteFile, reach: SourceReach = localReach): MarketPlan {
  const problems: string[] = []
  const keys = new Set(file.prices.map(({ key }) => key))
  if (keys.size < file.prices.length) problems.push('prices: a key is listed twice')
  const prices = file.prices.map((price) => planPrice({ file, price, reach, problems }))
  for (const [chainKey, { feeModel }] of Object.entries(file.chains)) {
    if (feeModel.kind === 'op-stack' && feeModel.gasPriceOracle === undefined) {
      problems.push(`${chainKey}: an op-stack chain needs feeModel.gasPriceOracle`)
    }
  }
  const chains = Object.entries(file.chains)
    .map(([chainKey, config]) => planChain({ chainKey, config, prices }))
    .filter(({ quotable, feeds, pools }) => quotable || feeds.length > 0 || pools.length > 0)
  if (problems.length > 0) throw new ConfigurationError(`Bad market configuration:\n${problems.join('\n')}`)
  const priceByKey = new Map(prices.map((price) => [price.key, price]))
  return {
    chains,
    chainByKey: new Map(chains.map((chain) => [chain.chainKey, chain])),
    prices,
    priceByKey,
    pricesByChain: new Map(
      chains.map(({ chainKey }) => [
        chainKey,
        prices.filter((price) => isTouched(price, chainKey, priceByKey)).map(({ key }) => key),
      ]),
    ),
  }
}

/** A pool brings the feeds of its other token's price along. */
function isTouched(
  { feeds, pools }: PricePlan,
  chainKey: string,
  priceByKey: ReadonlyMap<string, PricePlan>,
): boolean {
  return (
    feeds.some((feed) => feed.chain === chainKey) ||
    pools.some(
      (pool) =>
        pool.chainKey === chainKey ||
        priceByKey.get(pool.quoteKey)?.feeds.some((feed) => feed.chain === chainKey) === true,
    )
  )
}

function planPrice(args: {
  readonly file: QuoteFile
  readonly price: QuotePrice
  readonly reach: SourceReach
  readonly problems: string[]
}): PricePlan {
  const { file, price, reach, problems } = args
  for (const { chain } of price.feeds) {
    if (file.chains[chain] === undefined) problems.push(`${price.key}: its feed chain ${chain} is not listed`)
  }
  const feeds = price.feeds.map((feed) => ({ ...feed, source: `feed ${feed.chain} ${feed.address}` }))
  const { hostsOf, secondSource, problem } = planVoices({ ...price, feeds }, reach)
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
    pools: price.pools.flatMap((pool) => planPoolSource(file, price.key, pool, problems)),
    http: price.http,
  }
}

function planPoolSource(
  file: QuoteFile,
  priceKey: string,
  reference: QuotePrice['pools'][number],
  problems: string[],
): PoolSourcePlan[] {
  const { chain: chainKey, pool, token } = reference
  const complain = (what: string) => {
    problems.push(`${priceKey}: pool ${pool} on ${chainKey}: ${what}`)
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

function planChain(args: {
  readonly chainKey: string
  readonly config: QuoteChain
  readonly prices: readonly PricePlan[]
}): ChainPlan {
  const { chainKey, config, prices } = args
  const feeds = new Map(
    prices
      .flatMap((price) => price.feeds)
      .filter((feed) => feed.chain === chainKey)
      .map((feed) => [feed.address, feed]),
  )
  const priced = new Set(
    prices.flatMap((price) => price.pools).map((source) => `${source.chainKey} ${source.pool}`),
  )
  const pools = config.uniswapV3?.pools ?? []
  return {
    chainKey,
    config,
    quotable: config.enabled,
    feeds: [...feeds.values()],
    balances: config.enabled ? planBalances(config) : [],
    pools: config.enabled ? pools : pools.filter(({ address }) => priced.has(`${chainKey} ${address}`)),
  }
}

function planBalances(config: QuoteChain): BalancePlan[] {
  return config.currencies
    .filter(({ solver }) => solver)
    .map(({ address }) => {
      const canonical = evm.canonicalAddress(address)
      const key = currencyKey(config.chainId, canonical)
      // CAST: a canonical ethereum-vm address is lower-case `0x` hex.
      return { key, token: canonical === nativeAddress ? undefined : (canonical as Hex) }
    })
}

const evm = ethereumCodec
const nativeAddress = evm.canonicalAddress(evm.nativeCurrency)

/** The currency at an address; the wrapped native token counts as the native currency when unlisted. */
function currencyAt(chain: QuoteChain, address: Hex): QuoteChain['currencies'][number] | undefined {
  const find = (wanted: string) =>
    chain.currencies.find((currency) => evm.canonicalAddress(currency.address) === wanted)
  return find(address) ?? (address === chain.wrappedNative ? find(nativeAddress) : undefined)
}
