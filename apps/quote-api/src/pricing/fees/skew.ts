import { amountForUsdUp, usdValueDown } from '@causeway/core'
import type { MarketSnapshot } from '@causeway/market'
import type { LegPlan } from '../legs/legs.ts'
import { type ExternalLiquidity, offerOf } from '../market/externalLiquidity.ts'
import { type AssetInventory, skewCostUsd } from '../market/inventory.ts'
import type { InventoryView } from '../market/inventoryView.ts'
import { requireInventory, requirePrice } from '../market/marketAccess.ts'
import { noReward, type RatedMove, type RewardLimit } from '../openQuotes/rewardLimit.ts'
import type { Route } from '../routes/route.ts'
import type { FeeTerms } from './solve.ts'

type SkewInputs = {
  readonly route: Pick<Route, 'origin' | 'destination'>
  readonly plan: Pick<LegPlan, 'feeCurrency' | 'payoutCurrency'>
  readonly snapshot: MarketSnapshot
  readonly inventory: InventoryView
  readonly rewards: RewardLimit
  /** Liquidity that others bring; not in `inventory`. */
  readonly external?: readonly ExternalLiquidity[] | undefined
}

/**
 * Returns the cost of a plan's move for the solver's inventory, as a function of the input; in the fee currency, rounded
 * up. Negative: a reward, which other rewarded moves lower. @source Q-40
 */
export function skewOf(inputs: SkewInputs): FeeTerms['skew'] {
  const { snapshot, external, rewards } = inputs
  const { feeCurrency, payoutCurrency } = inputs.plan
  const feePrice = requirePrice(snapshot, feeCurrency)
  const { received, paid } = movedBalances(inputs)
  // With external liquidity it is unknown how much leaves the solver's own inventory, so the move earns no reward.
  const limit = offerOf(payoutCurrency, external) === undefined ? rewards : noReward
  return (amountIn) => {
    const usdX18 = usdValueDown(amountIn, feePrice)
    const cost = skewCostUsd(
      { asset: received.asset, chainId: received.chainId, deltaUsd: usdX18 },
      { asset: paid.asset, chainId: paid.chainId, deltaUsd: -usdX18 },
    )
    return amountForUsdUp(cost < 0n ? limit.rewardOf(cost, { received, paid, usdX18 }) : cost, feePrice)
  }
}

function movedBalances(inputs: SkewInputs): Pick<RatedMove, 'received' | 'paid'> {
  const { route, plan } = inputs
  const { received, paid } = inventories(inputs)
  return {
    received: { assetId: plan.feeCurrency.asset.id, chainId: route.origin.chainId, asset: received },
    paid: { assetId: plan.payoutCurrency.asset.id, chainId: route.destination.chainId, asset: paid },
  }
}

/** The inventories a plan touches. @throws QuoteError SERVICE_UNAVAILABLE when one cannot be valued or is unknown */
export function inventories({ inventory, plan }: Pick<SkewInputs, 'plan' | 'inventory'>): {
  received: AssetInventory
  paid: AssetInventory
} {
  return {
    received: requireInventory(inventory, plan.feeCurrency),
    paid: requireInventory(inventory, plan.payoutCurrency),
  }
}
