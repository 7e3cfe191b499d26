import { maxBigint, minBigint } from '@causeway/core'

/** The most that a transaction offers per unit of gas, of which the tip is a part. */
export type GasBid = { readonly maxFeePerGasWei: bigint; readonly maxPriorityFeePerGasWei: bigint }

/**
 * Nodes take a replacement that bids at least a tenth more, of the fee and of the tip. An eighth more is above that in any
 * rounding.
 */
const bumpNumerator = 9n
const bumpDenominator = 8n

/** The least amount that a replacement bids, rounded up. */
const raised = (wei: bigint) => (wei * bumpNumerator + bumpDenominator - 1n) / bumpDenominator

/** Bid of a first offer: the market's price, never above the ceiling. */
export function firstBid(market: GasBid, ceilingWei: bigint): GasBid {
  const maxFeePerGasWei = minBigint(market.maxFeePerGasWei, ceilingWei)
  return {
    maxFeePerGasWei,
    maxPriorityFeePerGasWei: minBigint(market.maxPriorityFeePerGasWei, maxFeePerGasWei),
  }
}

/**
 * Bid of a replacement of `last`: the minimum that nodes require, or the market's price if that is higher.
 * @returns undefined if that is above the ceiling: the last offer stays
 */
export function replacementBid(last: GasBid, market: GasBid, ceilingWei: bigint): GasBid | undefined {
  const leastWei = raised(last.maxFeePerGasWei)
  if (leastWei > ceilingWei) return undefined
  const maxFeePerGasWei = minBigint(maxBigint(leastWei, market.maxFeePerGasWei), ceilingWei)
  const tipWei = maxBigint(raised(last.maxPriorityFeePerGasWei), market.maxPriorityFeePerGasWei)
  return { maxFeePerGasWei, maxPriorityFeePerGasWei: minBigint(tipWei, maxFeePerGasWei) }
}
