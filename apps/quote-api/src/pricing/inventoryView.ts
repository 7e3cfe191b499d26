import { type QuoteAsset, usdValueDown } from '@causeway/core'
import type { MarketSnapshot } from '@causeway/market'
import { type AssetInventory, assetInventory } from './inventory.ts'
import type { QuotableChain, QuoteRegistry } from './registry.ts'

/** Solver inventory per asset as of one snapshot. */
export type InventoryView = (asset: QuoteAsset) => AssetInventory | undefined

/**
 * Builds inventory views and keeps the one of the last snapshot: quotes of one tick share it.
 * A chain that cannot be read now is left out: its balance is unknown, not zero.
 */
export function createInventoryViews(registry: QuoteRegistry): (snapshot: MarketSnapshot) => InventoryView {
  let last: { snapshot: MarketSnapshot; view: InventoryView } | undefined
  return (snapshot) => {
    if (last?.snapshot !== snapshot) last = { snapshot, view: buildView(registry, snapshot) }
    return last.view
  }
}

function buildView(registry: QuoteRegistry, snapshot: MarketSnapshot): InventoryView {
  const views = new Map<string, AssetInventory | undefined>()
  return (asset) => {
    if (!views.has(asset.id)) views.set(asset.id, buildAsset(registry, snapshot, asset))
    return views.get(asset.id)
  }
}

function buildAsset(
  registry: QuoteRegistry,
  snapshot: MarketSnapshot,
  asset: QuoteAsset,
): AssetInventory | undefined {
  if (asset.inventory === undefined) return undefined
  const price = snapshot.price(asset.priceKey)
  if ('reason' in price) return undefined
  const { kappaBps, rewardCapBps, maxSkewBps, reserveBps } = asset.inventory
  return assetInventory(
    {
      kappaBps: BigInt(kappaBps),
      rewardCapBps: BigInt(rewardCapBps),
      maxSkewBps: BigInt(maxSkewBps),
      reserveBps: BigInt(reserveBps),
    },
    registry.chains.flatMap((chain) => position(chain, snapshot, asset, price.usdX18)),
  )
}

function position(chain: QuotableChain, snapshot: MarketSnapshot, asset: QuoteAsset, usdX18: bigint) {
  const market = snapshot.chain(chain.chainId)
  const currencies = chain.solverCurrencies.filter((currency) => currency.asset === asset)
  if ('reason' in market || currencies.length === 0) return []
  let balanceUsd = 0n
  for (const { key, decimals } of currencies) {
    balanceUsd += usdValueDown(market.inventory.get(key) ?? 0n, { decimals, usdX18 })
  }
  const shareBps = chain.config.currencies
    .filter((currency) => currency.asset === asset.id)
    .reduce((sum, { targetShareBps }) => sum + BigInt(targetShareBps ?? 0), 0n)
  return [{ chainId: chain.chainId, balanceUsd, shareBps }]
}
