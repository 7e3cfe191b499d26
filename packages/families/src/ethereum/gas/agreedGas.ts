import { maxBigint, minBigint } from '@causeway/core'
import type { GasModel } from '@causeway/core/config'
import type { RpcAnswer, RpcCall, RpcOptions } from '@causeway/rpc'
import {
  type Electorate,
  MalformedAnswerError,
  medianOfVoices,
  tally,
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

export type AgreedGas = {
  readonly price: GasPriceEstimate
  readonly ceilingWei: bigint
  readonly tipFrom: TipSource
}

/** Milliseconds that late endpoints have left to add their estimate. */
const patienceMs = 250

/**
 * The gas price after one agreed head. Base fees are chain state and agreed. Tips and the fee of the next
 * block are too, unless honest nodes count them differently: then the median of enough of them stands, or
 * the configured tip over the agreed base fee.
 * @param verdict on `feeHistoryRequest` at that head, with everything in it
 * @returns undefined when no base fee is agreed at all
 * @throws UpstreamUnavailableError when nobody answers
 * @source rule Q-162
 */
export async function agreeOnGas(
  client: PollingClient,
  at: {
    readonly model: GasModel
    readonly head: ChainHead
    readonly verdict: Verdict<RpcAnswer> | undefined
  },
  options: RpcOptions = {},
): Promise<AgreedGas | undefined> {
  const { model, head, verdict } = at
  if (verdict?.status === 'agreed' && verdict.value.ok) {
    const history = parseFeeHistory(verdict.value.result)
    return priced(history, model, tipOf(history, model), 'agreed')
  }
  const { baseFeePerGasWei } = head
  if (baseFeePerGasWei === undefined) return undefined
  const votes = await pollHistories(client, feeHistoryRequest(model, head.number), options)
  const { electorate } = client
  const window = tally(votes, electorate, ({ baseFeesWei }) => baseFeesWei.join())
  const baseFeesWei = window.status === 'agreed' ? window.value.baseFeesWei : [baseFeePerGasWei]
  const tip = medianOfVoices(votes, electorate, (history) => tipOf(history, model))
  const tipWei = tip ?? model.minPriorityFeeWei
  const nextBaseFeeWei = nextBaseFee(votes, electorate, baseFeePerGasWei)
  const history = { baseFeesWei, nextBaseFeeWei, rewardsWei: baseFeesWei.map(() => tipWei) }
  return priced(history, model, tipWei, tip === undefined ? 'configured' : 'median')
}

/** Agreed, or the middle of enough that are possible, or that of the head. */
function nextBaseFee(votes: readonly Vote<FeeHistory>[], electorate: Electorate, headFeeWei: bigint): bigint {
  const verdict = tally(votes, electorate, ({ nextBaseFeeWei }) => `${nextBaseFeeWei}`)
  if (verdict.status === 'agreed') return verdict.value.nextBaseFeeWei
  const middle = medianOfVoices(votes, electorate, ({ nextBaseFeeWei }) => nextBaseFeeWei) ?? headFeeWei
  // A block moves the base fee by an eighth at most. @source EIP-1559
  const step = headFeeWei / 8n + 1n
  return maxBigint(minBigint(middle, headFeeWei + step), headFeeWei - step)
}

/** Fee histories of all endpoints that answer soon after enough did. */
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
  const isAnswer = answer?.ok === true && comparableAnswer(request, answer) !== undefined
  if (!isAnswer) return { alias, voice, value: undefined }
  try {
    return { alias, voice, value: parseFeeHistory(answer.result) }
  } catch (error) {
    if (error instanceof MalformedAnswerError) return { alias, voice, value: undefined }
    throw error
  }
}
