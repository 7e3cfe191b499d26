import { type CurrencyKey, maxBigint, type UsdX18, usdValueDown } from '@causeway/core'
import type { QuoteAsset } from '@causeway/core/config'
import type { MarketSnapshot } from '@causeway/market'
import type { QuotableChain, QuotableCurrency, QuoteRegistry } from '../registry.ts'
import { type AssetInventory, assetInventory } from './inventory.ts'

/** Solver inventory by asset as of one snapshot; undefined where it has no inventory settings or no price. */
export type InventoryView = (asset: QuoteAsset) => AssetInventory | undefined

/** Amounts that the solver never pays out, by currency, in smallest units. */
export type Floors = ReadonlyMap<CurrencyKey, bigint>

const noFloors: Floors = new Map()

/**
 * Builds inventory views and keeps the one of the last snapshot, which many quotes share.
 * A chain that cannot be priced now is left out: its balance is unknown, not zero.
 * @param floors reads the present floors; returns the same map object until they change
 */
export function createInventoryViews(
  registry: QuoteRegistry,
  floors: () => Floors = () => noFloors,
): (snapshot: MarketSnapshot) => InventoryView {
  let last: { snapshot: MarketSnapshot; floors: Floors; view: InventoryView } | undefined
  return (snapshot) => {
    const presentFloors = floors()
    if (last?.snapshot !== snapshot || last.floors !== presentFloors)
      last = { snapshot, floors: presentFloors, view: buildView(registry, snapshot, presentFloors) }
    return last.view
  }
}

/** Values an asset when a quote first asks for it. */
function buildView(registry: QuoteRegistry, snapshot: MarketSnapshot, floors: Floors): InventoryView {
  const views = new Map<string, AssetInventory | undefined>()
  return (asset) => {
    if (!views.has(asset.id)) views.set(asset.id, buildAsset(registry, { snapshot, floors }, asset))
    return views.get(asset.id)
  }
}

type InventoryInputs = { readonly snapshot: MarketSnapshot; readonly floors: Floors }

function buildAsset(
  registry: QuoteRegistry,
  inputs: InventoryInputs,
  asset: QuoteAsset,
): AssetInventory | undefined {
  if (asset.inventory === undefined) return undefined
  const price = inputs.snapshot.price(asset.priceKey)
  if ('reason' in price) return undefined
  const { kappaBps, rewardCapBps, maxSkewBps, reserveBps } = asset.inventory
  return assetInventory(
    {
      kappaBps: BigInt(kappaBps),
      rewardCapBps: BigInt(rewardCapBps),
      maxSkewBps: BigInt(maxSkewBps),
      reserveBps: BigInt(reserveBps),
    },
    registry.chains.flatMap((chain) => readPosition(chain, inputs, asset, price.usdX18)),
  )
}

/** The asset's position on one chain; none where the solver holds none there, or the chain cannot be priced now. */
function readPosition(
  chain: QuotableChain,
  { snapshot, floors }: InventoryInputs,
  asset: QuoteAsset,
  usdX18: bigint,
) {
  const market = snapshot.chain(chain.chainId)
  const currencies = chain.solverCurrencies.filter((currency) => currency.asset === asset)
  if ('reason' in market || currencies.length === 0) return []
  const usdOf = ({ decimals }: QuotableCurrency, amount: bigint) => usdValueDown(amount, { decimals, usdX18 })
  const payableByCurrency = new Map<CurrencyKey, UsdX18>()
  let balanceUsd = 0n
  let floorUsd = 0n
  let isComplete = true
  for (const currency of currencies) {
    const balance = market.inventory.get(currency.key)
    if (balance === undefined) isComplete = false
    const heldUsd = usdOf(currency, balance ?? 0n)
    const ownFloorUsd = usdOf(currency, floors.get(currency.key) ?? 0n)
    balanceUsd += heldUsd
    floorUsd += ownFloorUsd
    payableByCurrency.set(currency.key, maxBigint(0n, heldUsd - ownFloorUsd))
  }
  return [
    {
      chainId: chain.chainId,
      balanceUsd: isComplete ? balanceUsd : undefined,
      shareBps: targetShareBps(chain, asset),
      // With `keepsSides` each currency is paid from its own balance. Elsewhere an asset's currencies become
      // each other, so only their sum counts.
      payableByCurrency: chain.quoting.keepsSides === true ? payableByCurrency : undefined,
      floorUsd,
    },
  ]
}

/** Part of the asset's total that belongs on the chain: the targets of all its currencies there. */
function targetShareBps({ config }: QuotableChain, asset: QuoteAsset): bigint {
  return config.currencies
    .filter((currency) => currency.asset === asset.id)
    .reduce((sum, currency) => sum + BigInt(currency.targetShareBps ?? 0), 0n)
}
