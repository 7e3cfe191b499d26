import { type ExternalLiquiditySettings, usdValueDown } from '@causeway/core'
import type { MarketSnapshot } from '@causeway/market'
import { assetInventory, type InventoryView } from './inventory.ts'
import type { QuotableCurrency } from './registry.ts'

/** What somebody else says he brings to a chain; `available` in smallest units of what was asked for. */
export type LiquidityOffer = {
  readonly available: bigint
  /** What it costs, as part of what is paid out. */
  readonly feeBps: number
  /** From now until it lies with the solver. */
  readonly readySeconds: number
}

/** An offer that a quote may count on. */
export type ExternalLiquidity = LiquidityOffer & { readonly currency: QuotableCurrency }

/**
 * Asks the configured source what it brings of a currency to its chain; undefined where it brings nothing, does not
 * answer within its budget, or asks for more than the settings allow. Never rejects.
 */
export type FindLiquidity = (wanted: {
  readonly currency: QuotableCurrency
  readonly amount: bigint
}) => Promise<LiquidityOffer | undefined>

/** Whether an offer may be counted on. Whoever makes it moves no price, and costs and delays within these bounds. */
export function isAcceptable(
  { available, feeBps, readySeconds }: LiquidityOffer,
  { maxFeeBps, maxReadySeconds }: ExternalLiquiditySettings,
): boolean {
  return available > 0n && feeBps <= maxFeeBps && readySeconds <= maxReadySeconds
}

/** The inventory as it is once what was offered lies with the solver. */
export function withExternal(
  view: InventoryView,
  offered: readonly ExternalLiquidity[],
  snapshot: MarketSnapshot,
): InventoryView {
  return (asset) => {
    const inventory = view(asset)
    const price = snapshot.price(asset.priceKey)
    if (inventory === undefined || 'reason' in price) return inventory
    const { usdX18 } = price
    const chains = new Map(inventory.chains)
    for (const { currency, available } of offered) {
      if (currency.asset !== asset) continue
      const { balanceUsd = 0n, shareBps = 0n } = chains.get(currency.chainId) ?? {}
      const offeredUsd = usdValueDown(available, { decimals: currency.decimals, usdX18 })
      chains.set(currency.chainId, { balanceUsd: balanceUsd + offeredUsd, shareBps })
    }
    const balances = [...chains].map(([chainId, position]) => ({ chainId, ...position }))
    return assetInventory(inventory.parameters, balances)
  }
}
