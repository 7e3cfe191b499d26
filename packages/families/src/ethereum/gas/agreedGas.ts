import { maxBigint, minBigint } from '@causeway/core'
import type { GasModel } from '@causeway/core/config'
import type { RpcAnswer, RpcCall, RpcOptions } from '@causeway/rpc'
import {
  type Electorate,
  medianOfVoices,
  tally,
  unlessUnreadable,
  type Verdict,
  type Vote,
} from '@causeway/rpc'
import type { PollingClient } from '../agreement/agreedReads.ts'
import { comparableAnswer } from '../agreement/comparableAnswer.ts'
import type { ChainHead } from '../agreement/head.ts'
import {
  estimateGasPrice,
  type FeeHistory,
  feeHistoryRequest,
  type GasPriceEstimate,
  gasCeilingWei,
  parseFeeHistory,
  tipOf,
} from './feeModel.ts'

/** Source of the tip: `agreed` like the base fee, the `median` of enough estimates, or `configured`. */
export type TipSource = 'agreed' | 'median' | 'configured'

/** Gas price of a chain after one block, and the price above which nothing is quoted there. */
export type AgreedGas = {
  readonly price: GasPriceEstimate
  readonly ceilingWei: bigint
  readonly tipFrom: TipSource
}

/**
 * Once enough endpoints have answered, late ones have so many milliseconds to add their estimate. Then the
 * votes are decided on as if all were in (`isLast`).
 */
const patienceMs = 250

/**
 * The gas price after one agreed head. If endpoints agree on the whole fee history, it is used as it is.
 * Honest nodes may compute tips and the next base fee differently: then they are asked again, and each part
 * is taken by itself:
 * - base fees of past blocks: agreed, else the head's own alone
 * - the next base fee: agreed, else the median, else the head's own
 * - the tip: the median, else the configured one (`minPriorityFeeWei`)
 *
 * `medianOfVoices` takes at least three answers, and so many that false ones cannot decide the median.
 * @param reading `verdict` is that of a vote on the whole answer to `feeHistoryRequest` at this head
 * @returns undefined on a chain without base fees, if the fee history is not agreed
 * @throws UpstreamUnavailableError when nobody answers
 * @source rule Q-162
 */
export async function agreeOnGas(
  client: PollingClient,
  reading: {
    readonly model: GasModel
    readonly head: ChainHead
    readonly verdict: Verdict<RpcAnswer> | undefined
  },
  options: RpcOptions = {},
): Promise<AgreedGas | undefined> {
  const { model, head, verdict } = reading
  if (verdict?.status === 'agreed' && verdict.value.ok) {
    const history = parseFeeHistory(verdict.value.result)
    return priced(history, model, tipOf(history, model), 'agreed')
  }
  // The head's own base fee is agreed with the head; only tips and the next base fee are in dispute.
  const { baseFeePerGasWei } = head
  if (baseFeePerGasWei === undefined) return undefined
  const votes = await pollHistories(client, feeHistoryRequest(model, head.number), options)
  const { electorate } = client
  const baseFeeVerdict = tally(votes, electorate, ({ baseFeesWei }) => baseFeesWei.join())
  const baseFeesWei =
    baseFeeVerdict.status === 'agreed' ? baseFeeVerdict.value.baseFeesWei : [baseFeePerGasWei]
  const medianTipWei = medianOfVoices(votes, electorate, (history) => tipOf(history, model))
  const tipWei = medianTipWei ?? model.minPriorityFeeWei
  const nextBaseFeeWei = nextBaseFee(votes, electorate, baseFeePerGasWei)
  // The tips of single blocks are in dispute, so this one stands for each of them in the ceiling.
  const history = { baseFeesWei, nextBaseFeeWei, rewardsWei: baseFeesWei.map(() => tipWei) }
  return priced(history, model, tipWei, medianTipWei === undefined ? 'configured' : 'median')
}

/** The agreed next base fee, else the median of the votes within the protocol's bounds, else that of the head. */
function nextBaseFee(votes: readonly Vote<FeeHistory>[], electorate: Electorate, headFeeWei: bigint): bigint {
  const verdict = tally(votes, electorate, ({ nextBaseFeeWei }) => `${nextBaseFeeWei}`)
  if (verdict.status === 'agreed') return verdict.value.nextBaseFeeWei
  const medianFeeWei = medianOfVoices(votes, electorate, ({ nextBaseFeeWei }) => nextBaseFeeWei) ?? headFeeWei
  // A block moves the base fee by an eighth at most, a small one by 1 wei. @source EIP-1559
  const maxChangeWei = headFeeWei / 8n + 1n
  return maxBigint(minBigint(medianFeeWei, headFeeWei + maxChangeWei), headFeeWei - maxChangeWei)
}

/** Fee histories of all endpoints that answer within `patienceMs` after enough did; if none is readable, it throws. */
function pollHistories(
  client: PollingClient,
  request: RpcCall,
  options: RpcOptions,
): Promise<readonly Vote<FeeHistory>[]> {
  return client.poll([request], {
    ...options,
    patienceMs,
    decide(heard, isLast) {
      const histories = heard.map((vote) => historyOf(vote, request))
      return isLast && histories.some(({ value }) => value !== undefined) ? histories : undefined
    },
  })
}

function priced(history: FeeHistory, model: GasModel, tipWei: bigint, tipFrom: TipSource): AgreedGas {
  const price = estimateGasPrice(history, model, tipWei)
  return { price, ceilingWei: gasCeilingWei(history, model), tipFrom }
}

function historyOf({ alias, voice, value }: Vote<readonly RpcAnswer[]>, request: RpcCall): Vote<FeeHistory> {
  const [answer] = value ?? []
  const isVote = answer?.ok === true && comparableAnswer(request, answer) !== undefined
  const history = isVote ? unlessUnreadable(() => parseFeeHistory(answer.result)) : undefined
  return { alias, voice, value: history }
}
