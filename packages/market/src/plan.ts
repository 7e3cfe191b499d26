import { ConfigurationError, type CurrencyKey, currencyKey, type Hex } from '@causeway/core'
import { isContractChain, lacksGasPriceOracle, type PoolConfig, type QuoteChain } from '@causeway/core/config'
import { ethereumCodec } from '@causeway/core/encodings'
import { type FeedPlan, type PriceConfig, type PricePlan, planPrice } from './prices/pricePlan.ts'
import { localHosts, type SourceHosts } from './prices/secondSource.ts'

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

/** Everything that is read, derived once from the configuration. Maps are by chain key or price key. */
export type MarketPlan = {
  readonly chains: readonly ChainPlan[]
  readonly chainByKey: ReadonlyMap<string, ChainPlan>
  readonly prices: readonly PricePlan[]
  readonly priceByKey: ReadonlyMap<string, PricePlan>
  /** Keys of the prices that a reading of each chain can change. */
  readonly pricesByChain: ReadonlyMap<string, readonly string[]>
}

/**
 * Derives from the configuration what is read on which chain and from which service.
 * @param file chains, assets and prices, as a quote file lists them
 * @param sourceHosts endpoint hosts through which each source is read
 * @throws ConfigurationError that names every reference without a target, and every price with several sources that
 * all share an endpoint host
 */
export function planMarket(file: PriceConfig, sourceHosts: SourceHosts = localHosts): MarketPlan {
  const problems: string[] = []
  const keys = new Set(file.prices.map(({ key }) => key))
  if (keys.size < file.prices.length) problems.push('prices: a key is listed twice')
  const prices = file.prices.map((price) => planPrice({ file, price, sourceHosts, problems }))
  for (const [chainKey, { feeModel }] of Object.entries(file.chains)) {
    if (lacksGasPriceOracle(feeModel))
      problems.push(`${chainKey}: an ${feeModel.kind} chain needs feeModel.gasPriceOracle`)
  }
  const chains = Object.entries(file.chains)
    .map(([chainKey, config]) => planChain({ chainKey, config, prices }))
    .filter(({ quotable, feeds, pools }) => quotable || feeds.length > 0 || pools.length > 0)
  if (problems.length > 0) throw ConfigurationError.listing('Bad market configuration:', problems)
  const priceByKey = new Map(prices.map((price) => [price.key, price]))
  return {
    chains,
    chainByKey: new Map(chains.map((chain) => [chain.chainKey, chain])),
    prices,
    priceByKey,
    pricesByChain: new Map(
      chains.map(({ chainKey }) => [
        chainKey,
        prices.filter((price) => dependsOnChain(price, chainKey, priceByKey)).map(({ key }) => key),
      ]),
    ),
  }
}

/** True if feeds or pools on the chain, or feeds of a pool's quote token, can change the price. */
function dependsOnChain(
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

function planChain(args: {
  readonly chainKey: string
  readonly config: QuoteChain
  readonly prices: readonly PricePlan[]
}): ChainPlan {
  const { chainKey, config, prices } = args
  /** Feeds of the chain by address, as several prices may share one. */
  const feeds = new Map(
    prices
      .flatMap((price) => price.feeds)
      .filter((feed) => feed.chain === chainKey)
      .map((feed) => [feed.address, feed]),
  )
  /** Pools that are sources of prices; a chain that is not quoted reads no others. */
  const sourcePools = new Set(
    prices.flatMap((price) => price.pools).map((source) => `${source.chainKey} ${source.pool}`),
  )
  const pools = config.uniswapV3?.pools ?? []
  return {
    chainKey,
    config,
    quotable: config.enabled,
    feeds: [...feeds.values()],
    balances: config.enabled && isContractChain(config) ? planBalances(config) : [],
    pools: config.enabled ? pools : pools.filter(({ address }) => sourcePools.has(`${chainKey} ${address}`)),
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
