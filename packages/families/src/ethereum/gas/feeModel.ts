import { divideUp, maxBigint } from '@causeway/core'
import type { GasModel } from '@causeway/core/config'
import type { RpcCall } from '@causeway/rpc'
import {
  MalformedAnswerError,
  medianUp,
  parseList,
  parseQuantity,
  parseRecord,
  toQuantity,
} from '@causeway/rpc'

/** Wei per gas. */
export type GasPriceEstimate = {
  /** Expected gas price for inclusion in the next block. */
  readonly expectedWei: bigint
  /** Covers `inclusionBlocks` full blocks in a row. */
  readonly maxFeePerGasWei: bigint
  readonly maxPriorityFeePerGasWei: bigint
}

/** The blocks up to one, oldest first, empty ones included. */
export type FeeHistory = {
  readonly baseFeesWei: readonly bigint[]
  /** Base fee of the block after the newest one. */
  readonly nextBaseFeeWei: bigint
  /** Tip at the asked percentile, per block; zero for an empty one. */
  readonly rewardsWei: readonly bigint[]
}

const requestName = 'eth_feeHistory'

/** @param block the newest one of the history; by number it is the same at every honest node */
export function feeHistoryRequest(model: GasModel, block: bigint): RpcCall {
  const count = Math.max(model.historyBlocks, model.ceilingBlocks)
  return { method: requestName, params: [toQuantity(count), toQuantity(block), [model.rewardPercentile]] }
}

/**
 * @source Ethereum JSON-RPC, `eth_feeHistory`: one base fee more than blocks, the last of the next block
 * @throws MalformedAnswerError
 */
export function parseFeeHistory(result: unknown): FeeHistory {
  const history = parseRecord(result, requestName)
  const baseFees = parseList(history['baseFeePerGas'], requestName)
  const blocks = parseList(history['gasUsedRatio'], requestName).length
  // A node that leaves the next block's fee out would make the newest block's look like it.
  if (baseFees.length !== blocks + 1) throw new MalformedAnswerError(requestName)
  const rewards = history['reward'] ?? []
  return {
    baseFeesWei: baseFees.slice(0, -1).map((fee) => parseQuantity(fee, requestName)),
    nextBaseFeeWei: parseQuantity(baseFees.at(-1), requestName),
    rewardsWei: parseList(rewards, requestName).map((block) =>
      parseQuantity(parseList(block, requestName)[0], requestName),
    ),
  }
}

/**
 * Median tip of the last blocks, where an empty block counts as one that would have taken any tip. A single transaction
 * that pays much on a quiet chain is only one block of many.
 * @source rule Q-162
 */
export function tipOf({ rewardsWei }: FeeHistory, model: GasModel): bigint {
  return maxBigint(model.minPriorityFeeWei, medianUp(rewardsWei.slice(-model.historyBlocks)))
}

/** Prices gas: the next base fee plus the tip. All divisions round up. @source rule Q-151 */
export function estimateGasPrice(
  history: FeeHistory,
  model: GasModel,
  tipWei = tipOf(history, model),
): GasPriceEstimate {
  const { nextBaseFeeWei } = history
  const blocks = BigInt(model.inclusionBlocks)
  return {
    expectedWei: nextBaseFeeWei + tipWei,
    maxFeePerGasWei: divideUp(nextBaseFeeWei * 9n ** blocks, 8n ** blocks) + tipWei,
    maxPriorityFeePerGasWei: tipWei,
  }
}

/**
 * The gas price above which nothing is quoted, whoever says it: a multiple of what the blocks of a longer
 * window cost in the middle, and never below what is too little to matter.
 * @source rule Q-163
 */
export function gasCeilingWei(history: FeeHistory, model: GasModel): bigint {
  const { baseFeesWei, rewardsWei } = history
  const window = baseFeesWei.slice(-model.ceilingBlocks)
  const rewards = rewardsWei.slice(-window.length)
  const costs = window.map((baseFee, at) => baseFee + maxBigint(model.minPriorityFeeWei, rewards[at] ?? 0n))
  return maxBigint(model.ceilingFromWei, medianUp(costs) * BigInt(model.ceilingFactor))
}
