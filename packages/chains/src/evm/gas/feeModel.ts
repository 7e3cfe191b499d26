import { divideUp, type FeeModel, maxBigint } from '@causeway/core'
import type { RpcCall } from '../../rpc/jsonRpc.ts'
import { MalformedAnswerError } from '../malformedAnswer.ts'
import { parseList, parseQuantity, parseRecord, toQuantity } from '../quantity.ts'

/** Wei per gas. */
export type GasPriceEstimate = {
  /** What inclusion in the next block should cost. */
  readonly expectedWei: bigint
  /** Covers `inclusionBlocks` full blocks in a row. */
  readonly maxFeePerGasWei: bigint
  readonly maxPriorityFeePerGasWei: bigint
}

export type FeeHistory = {
  /** Of the block after the newest one. */
  readonly nextBaseFeeWei: bigint
  /** Tip at the asked percentile, per block. */
  readonly rewardsWei: readonly bigint[]
}

const what = 'eth_feeHistory'

export function feeHistoryRequest(model: FeeModel): RpcCall {
  return { method: what, params: [toQuantity(model.historyBlocks), 'latest', [model.rewardPercentile]] }
}

/**
 * @source Ethereum JSON-RPC, `eth_feeHistory`: one base fee more than blocks, the last of the next block
 * @throws MalformedAnswerError
 */
export function parseFeeHistory(result: unknown): FeeHistory {
  const history = parseRecord(result, what)
  const baseFees = parseList(history['baseFeePerGas'], what)
  const blocks = parseList(history['gasUsedRatio'], what).length
  // A node that leaves the next block's fee out would make the newest block's look like it.
  if (baseFees.length !== blocks + 1) throw new MalformedAnswerError(what)
  const rewards = history['reward'] ?? []
  return {
    nextBaseFeeWei: parseQuantity(baseFees.at(-1), what),
    rewardsWei: parseList(rewards, what).map((block) => parseQuantity(parseList(block, what)[0], what)),
  }
}

/**
 * Prices gas from the last blocks: the next base fee plus the median of the tips that were paid. Empty
 * blocks report a tip of zero and say nothing about its price. All divisions round up.
 * @source pricing-engine.md 1.2
 */
export function estimateGasPrice(history: FeeHistory, model: FeeModel): GasPriceEstimate {
  const { nextBaseFeeWei, rewardsWei } = history
  const paid = rewardsWei.filter((reward) => reward > 0n)
  const tipWei = maxBigint(model.minPriorityFeeWei, medianUp(paid))
  const blocks = BigInt(model.inclusionBlocks)
  return {
    expectedWei: nextBaseFeeWei + tipWei,
    maxFeePerGasWei: divideUp(nextBaseFeeWei * 9n ** blocks, 8n ** blocks) + tipWei,
    maxPriorityFeePerGasWei: tipWei,
  }
}

/** Zero for no values; between two middle values their mean, rounded up. */
function medianUp(values: readonly bigint[]): bigint {
  const sorted = values.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0))
  const upper = sorted[Math.floor(sorted.length / 2)]
  const lower = sorted[Math.floor((sorted.length - 1) / 2)]
  return upper === undefined || lower === undefined ? 0n : divideUp(lower + upper, 2n)
}
