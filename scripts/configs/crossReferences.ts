import { depthRuleFor, derivedHubChainId } from '@causeway/core'
import { isContractChain, lacksGasPriceOracle, type QuoteChain, type QuoteFile } from '@causeway/core/config'
import { codecOf, mainNetwork } from '@causeway/core/encodings'
import { tronChainId } from '../../packages/localnet/src/families/familyPlans.ts'
import type { ConfigSet } from './configFiles.ts'

/** Uniswap V3's fee tiers and the spacing its factory gives them. */
const tickSpacings = new Map([
  [100, 1],
  [500, 10],
  [3_000, 60],
  [10_000, 200],
])

/**
 * Problems that the schemas cannot find: the files of one environment must agree with each other. Each string names the
 * place and the problem there; an empty list means that all is well.
 */
export function findBrokenReferences(config: ConfigSet): readonly string[] {
  return [
    ...chainListProblems(config),
    ...assetProblems(config.quote),
    ...priceProblems(config),
    ...Object.entries(config.quote.chains).flatMap(([key, chain]) => [
      ...currencyProblems(config, key).map((problem) => `quote chain ${key}: ${problem}`),
      ...poolProblems(chain).map((problem) => `quote chain ${key}: ${problem}`),
      ...pinProblems(chain).map((problem) => `quote chain ${key}: ${problem}`),
    ]),
  ]
}

function chainListProblems({ chains, quote }: ConfigSet): readonly string[] {
  const byId = new Map(chains.chains.map((chain) => [chain.id, chain]))
  return [
    ...duplicates(chains.chains.map((chain) => chain.id)).map((id) => `chain ${id} is listed twice`),
    ...duplicates(chains.chains.map((chain) => chain.hubChainId)).map(
      (id) => `hub chain id ${id} is used twice`,
    ),
    ...Object.entries(quote.chains).flatMap(([key, { chainId }]) => {
      const listed = byId.get(key)
      if (listed === undefined) return [`quote chain ${key} is not in the chains file`]
      // The hub knows chains that are not EVM ones by the hash of their names.
      const chainIds = [String(chainId), String(derivedHubChainId(key))]
      // The oracle refuses nodes of public networks in `local`, so that Tron has an id of its own there.
      if (chains.environment === 'local' && listed.vmType === 'tron-vm') chainIds.push(String(tronChainId))
      if (chainIds.includes(listed.hubChainId)) return []
      return [`quote chain ${key} has id ${chainId}, the chains file ${listed.hubChainId}`]
    }),
    ...duplicates(Object.values(quote.chains).map((chain) => String(chain.chainId))).map(
      (id) => `two quote chains have id ${id}`,
    ),
  ]
}

function assetProblems(quote: QuoteFile): readonly string[] {
  const prices = new Map(quote.prices.map((price) => [price.key, price]))
  const held = Object.values(quote.chains)
    .flatMap((chain) => chain.currencies)
    .filter((currency) => currency.solver)
  return [
    ...duplicates(quote.assets.map((asset) => asset.id)).map((id) => `asset ${id} is listed twice`),
    ...duplicates(quote.prices.map((price) => price.key)).map((key) => `price ${key} is listed twice`),
    ...quote.assets.flatMap((asset) => {
      const price = prices.get(asset.priceKey)
      const shares = held.filter((currency) => currency.asset === asset.id)
      const sum = shares.reduce((total, currency) => total + (currency.targetShareBps ?? 0), 0)
      return [
        ...(price === undefined ? [`asset ${asset.id} has no price ${asset.priceKey}`] : []),
        ...(price !== undefined && price.class !== asset.class
          ? [`asset ${asset.id} is ${asset.class}, its price ${price.class}`]
          : []),
        ...(shares.length > 0 && sum !== 10_000 ? [`target shares of ${asset.id} add up to ${sum}`] : []),
        ...(shares.length > 0 && asset.inventory === undefined
          ? [`asset ${asset.id} is held by the solver but has no inventory rule`]
          : []),
      ]
    }),
  ]
}

function priceProblems({ quote }: ConfigSet): readonly string[] {
  return quote.prices.flatMap((price) => [
    ...(price.feeds.length + price.pools.length + price.http.length === 0
      ? [`price ${price.key} has no source`]
      : []),
    ...price.feeds
      .filter((feed) => quote.chains[feed.chain] === undefined)
      .map((feed) => `price ${price.key} reads a feed on ${feed.chain}, which is no quote chain`),
    ...price.pools.flatMap(({ chain, pool, token }) => {
      const configuredPool = quote.chains[chain]?.uniswapV3?.pools.find(
        (candidate) => candidate.address === pool,
      )
      if (configuredPool === undefined)
        return [`price ${price.key} reads ${pool}, which is no pool of ${chain}`]
      return [configuredPool.token0, configuredPool.token1].includes(token)
        ? []
        : [`pool ${pool} does not hold ${token}`]
    }),
  ])
}

function currencyProblems({ chains, quote }: ConfigSet, key: string): readonly string[] {
  const [chain, listed] = [quote.chains[key], chains.chains.find(({ id }) => id === key)]
  // Anything that is not listed is found elsewhere.
  if (chain === undefined || listed === undefined) return []
  const codec = codecOf(mainNetwork(listed.vmType))
  const assets = new Set(quote.assets.map((asset) => asset.id))
  const find = (address: string) => chain.currencies.find((currency) => currency.address === address)
  const native = find(codec.nativeCurrency)
  const wrapped = isContractChain(chain) ? find(chain.wrappedNative) : native
  return [
    ...(native === undefined ? ['the native currency is not listed'] : []),
    ...(wrapped === undefined ? ['the wrapped native currency is not listed'] : []),
    ...(native !== undefined && wrapped !== undefined && native.asset !== wrapped.asset
      ? ['native and wrapped native are different assets']
      : []),
    ...duplicates(chain.currencies.map((currency) => currency.address.toLowerCase())).map(
      (address) => `currency ${address} is listed twice`,
    ),
    ...duplicates(chain.currencies.map((currency) => currency.symbol)).map(
      (symbol) => `the symbol ${symbol} is used twice`,
    ),
    ...chain.currencies.flatMap(({ symbol, asset, solver, targetShareBps, address }) => [
      ...(assets.has(asset) ? [] : [`${symbol} belongs to the unknown asset ${asset}`]),
      ...(solver === (targetShareBps !== undefined)
        ? []
        : [`${symbol} needs solver and targetShareBps together`]),
      ...(address === address.toLowerCase() || !isContractChain(chain)
        ? []
        : [`${symbol} is not written in lower case`]),
    ]),
    ...(lacksGasPriceOracle(chain.feeModel) ? [`an ${chain.feeModel.kind} chain needs gasPriceOracle`] : []),
  ]
}

function poolProblems(chain: QuoteChain): readonly string[] {
  const currencies = new Set(chain.currencies.map((currency) => currency.address))
  const pools = chain.uniswapV3?.pools ?? []
  return [
    ...duplicates(pools.map((pool) => pool.address)).map((address) => `pool ${address} is listed twice`),
    ...pools.flatMap(({ address, token0, token1, feePips, tickSpacing }) => [
      ...(token0 < token1 ? [] : [`pool ${address} has its tokens in the wrong order`]),
      ...[token0, token1]
        .filter((token) => !currencies.has(token))
        .map((token) => `pool ${address} holds ${token}, which is no currency of the chain`),
      ...(tickSpacings.get(feePips) === tickSpacing
        ? []
        : [`pool ${address} has no valid pair of fee and spacing`]),
    ]),
  ]
}

function pinProblems({ pinPolicy }: QuoteChain): readonly string[] {
  const bounds = pinPolicy.map((row) => row.upToMicroUsd)
  const rising = pinPolicy.every((row, index) => {
    const previous = pinPolicy[index - 1]
    if (previous === undefined) return true
    const dearer = row.upToMicroUsd === undefined || row.upToMicroUsd > (previous.upToMicroUsd ?? 0n)
    const [before, now] = [previous, row].map((one) =>
      depthRuleFor([{ ...one, upToMicroUsd: undefined }], 0n),
    )
    if (before === undefined || now === undefined) return false
    // A block that its chain calls final is deeper than any blocks and seconds.
    const isDeeper = now.blocks >= before.blocks && now.seconds >= before.seconds
    return dearer && (now.isFinalized ? !before.isFinalized || isDeeper : isDeeper && !before.isFinalized)
  })
  return [
    ...(bounds.length > 0 && bounds.indexOf(undefined) === bounds.length - 1
      ? []
      : ['only the last row of the pin policy has no upper bound']),
    ...(rising ? [] : ['the pin policy does not rise from row to row']),
  ]
}

function duplicates(values: readonly string[]): readonly string[] {
  return [...new Set(values.filter((value, index) => values.indexOf(value) !== index))]
}
