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

/** Fees of the last blocks up to a given one, oldest first. */
export type FeeHistory = {
  readonly baseFeesWei: readonly bigint[]
  /** Base fee of the block after the newest one. */
  readonly nextBaseFeeWei: bigint
  /** Tip at the asked percentile, per block; zero for an empty one. Empty if the node gives no tips. */
  readonly rewardsWei: readonly bigint[]
}

const requestName = 'eth_feeHistory'

/** @param block height of the newest block of the history: with a fixed height honest nodes answer alike */
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
  // If a node left out the next block's fee, the newest block's fee would be taken for it.
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
 * Median tip of the last blocks, at least the configured minimum. Empty blocks count with a tip of 0, since they would
 * have taken any; so one dear transaction on a quiet chain moves the median little.
 * @source rule Q-162
 */
export function tipOf({ rewardsWei }: FeeHistory, model: GasModel): bigint {
  return maxBigint(model.minPriorityFeeWei, medianUp(rewardsWei.slice(-model.historyBlocks)))
}

/**
 * Gas price: the next base fee plus the tip. The maximum allows `inclusionBlocks` full blocks before inclusion, each of
 * which raises the base fee by an eighth (EIP-1559). Divisions round up.
 * @source rule Q-151
 */
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
 * The gas price above which nothing is quoted, even if endpoints agree on it: `ceilingFactor` times the median cost of
 * the last `ceilingBlocks` blocks, and at least `ceilingFromWei`, below which a price does not matter.
 * @source rule Q-163
 */
export function gasCeilingWei(history: FeeHistory, model: GasModel): bigint {
  const { baseFeesWei, rewardsWei } = history
  const window = baseFeesWei.slice(-model.ceilingBlocks)
  const rewards = rewardsWei.slice(-window.length)
  const pricesWei = window.map(
    (baseFeeWei, index) => baseFeeWei + maxBigint(model.minPriorityFeeWei, rewards[index] ?? 0n),
  )
  return maxBigint(model.ceilingFromWei, medianUp(pricesWei) * BigInt(model.ceilingFactor))
}
