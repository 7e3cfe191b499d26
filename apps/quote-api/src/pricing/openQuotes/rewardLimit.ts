import { divideDown, divideUp, maxBigint, minBigint, type UsdX18 } from '@causeway/core'
import { type AssetInventory, afterMoves, type InventoryMove, skewCostUsd } from '../market/inventory.ts'
import type { AssetOnChain, NetMoves } from './rewardedMoves.ts'

/** A move of `usdX18` whose reward is to be computed, with the inventories that it changes. */
export type RatedMove = {
  readonly received: AssetOnChain & Pick<InventoryMove, 'asset'>
  readonly paid: AssetOnChain & Pick<InventoryMove, 'asset'>
  readonly usdX18: UsdX18
}

/**
 * Limit of the reward that one request may earn, by other rewarded moves and by the budget.
 * @source
 */
export interface RewardLimit {
  /**
   * @param costUsd skew cost of the move by the solver's present inventory; negative, so a reward
   * @returns the reward that the request gets, as a cost between `costUsd` and zero
   */
  rewardOf(costUsd: UsdX18, move: RatedMove): UsdX18
}

/** Limit of a request that earns no reward. */
export const noReward: RewardLimit = { rewardOf: () => 0n }

/** A fraction, at least 1: how often a dollar of a move counts. */
export type Weight = { readonly numerator: bigint; readonly denominator: bigint }

/** Moves that the inventory does not show yet, and how often they count. */
export type CountedMoves = { readonly net: NetMoves; readonly weight: Weight }

const usdX18PerMicroUsd = 10n ** 12n

/**
 * Makes the limit of one request. Its reward is the least of three:
 * 1. the reward of its move over the present inventory;
 * 2. what the budget leaves;
 * 3. its part of the reward over the inventory as it will be after all counted moves.
 *
 * The third keeps the sum of all rewards at or below that of all moves in a row. The skew's potential is
 * convex, so each further dollar between two balances earns less. A request that knows of all moves before it
 * is therefore priced after them. It cannot know those of other processes, and a keyless one must leave room
 * for callers with a key. So it assumes `ownWeight` moves like its own, prices them as one move of that size,
 * and gets 1/`ownWeight` of its reward.
 * @param limits.leftMicroUsd what the budget leaves
 */
export function createRewardLimit(
  counted: readonly CountedMoves[],
  limits: { readonly ownWeight: Weight; readonly leftMicroUsd: bigint },
): RewardLimit {
  const { numerator, denominator } = limits.ownWeight
  const budgetUsd = limits.leftMicroUsd * usdX18PerMicroUsd
  const movedByAssetId = new Map<string, { readonly asset: AssetInventory; readonly moved: AssetInventory }>()
  const movedInventory = ({ assetId, asset }: RatedMove['paid']): AssetInventory => {
    const cached = movedByAssetId.get(assetId)
    if (cached?.asset === asset) return cached.moved
    const moved = inventoryAfter(counted, assetId, asset)
    movedByAssetId.set(assetId, { asset, moved })
    return moved
  }
  return {
    rewardOf(costUsd, { received, paid, usdX18 }) {
      // Rewards are counted as positive here. A cost or an overdrawn budget makes the reward zero.
      const affordableUsd = maxBigint(0n, minBigint(-costUsd, budgetUsd))
      const weightedUsd = divideUp(usdX18 * numerator, denominator)
      const receivedAsset = movedInventory(received)
      const paidAsset = movedInventory(paid)
      // Nothing counted changes these inventories: `costUsd` was computed over the same ones.
      if (weightedUsd === usdX18 && receivedAsset === received.asset && paidAsset === paid.asset)
        return -affordableUsd
      const weightedCostUsd = skewCostUsd(
        { asset: receivedAsset, chainId: received.chainId, deltaUsd: weightedUsd },
        { asset: paidAsset, chainId: paid.chainId, deltaUsd: -weightedUsd },
      )
      const ownRewardUsd = divideDown(-weightedCostUsd * denominator, numerator)
      return -maxBigint(0n, minBigint(affordableUsd, ownRewardUsd))
    },
  }
}

/** The inventory of an asset after the counted moves; the same object where none of them changes it. */
function inventoryAfter(
  counted: readonly CountedMoves[],
  assetId: string,
  asset: AssetInventory,
): AssetInventory {
  const moves = new Map<number, UsdX18>()
  for (const { net, weight } of counted)
    for (const [chainId, usdX18] of net.get(assetId) ?? []) {
      const weightedUsd = (usdX18 * weight.numerator) / weight.denominator
      moves.set(chainId, (moves.get(chainId) ?? 0n) + weightedUsd)
    }
  return moves.size === 0 ? asset : afterMoves(asset, moves)
}
