import type { FeeModel } from '@causeway/core'
import type { RpcAnswer, RpcCall } from '../../rpc/jsonRpc.ts'
import { countVoices, type Electorate, tally, type Verdict, type Vote } from '../../rpc/tally.ts'
import type { AgreedReadOptions, PollingClient } from '../agreedReads.ts'
import { comparableAnswer } from '../comparableAnswer.ts'
import { MalformedAnswerError } from '../malformedAnswer.ts'
import {
  estimateGasPrice,
  type FeeHistory,
  feeHistoryRequest,
  type GasPriceEstimate,
  gasCeilingWei,
  medianUp,
  parseFeeHistory,
  tipOf,
} from './feeModel.ts'

/** Where the tip comes from: `agreed` like the base fee, from enough estimates, or from configuration. */
export type TipSource = 'agreed' | 'median' | 'configured'

export type AgreedGas = {
  readonly price: GasPriceEstimate
  readonly ceilingWei: bigint
  readonly tipFrom: TipSource
}

/** How long late endpoints may still add their estimate. */
const patienceMs = 250

/**
 * The gas price at one block. Base fees are chain state and agreed. Tips are too, unless honest nodes
 * count them differently: then the median of enough of them stands, or the configured tip.
 * @param verdict on `feeHistoryRequest` at that block, with everything in it
 * @returns undefined when endpoints contradict each other about base fees
 * @throws UpstreamUnavailableError when too few answer
 * @source design.md 5.4
 */
export async function agreeOnGas(
  client: PollingClient,
  at: { readonly model: FeeModel; readonly block: bigint; readonly verdict: Verdict<RpcAnswer> | undefined },
  options: AgreedReadOptions = {},
): Promise<AgreedGas | undefined> {
  const { model, block, verdict } = at
  if (verdict?.status === 'agreed' && verdict.value.ok) {
    const history = parseFeeHistory(verdict.value.result)
    return priced(history, model, tipOf(history, model), 'agreed')
  }
  const request = feeHistoryRequest(model, block)
  const { onReport: _, ...limits } = options
  const votes = await client.poll<readonly Vote<FeeHistory>[]>([request], {
    ...limits,
    patienceMs,
    decide(heard, isLast) {
      const histories = heard.map((vote) => historyOf(vote, request))
      return isLast && histories.some(({ value }) => value !== undefined) ? histories : undefined
    },
  })
  const baseFees = tally(votes, client.electorate, ({ baseFeesWei, nextBaseFeeWei }) =>
    [...baseFeesWei, nextBaseFeeWei].join(),
  )
  if (baseFees.status !== 'agreed') return undefined
  const tips = tipEstimates(votes, model)
  const isMedian = tips.length >= estimatesNeeded(client.electorate)
  const tipWei = isMedian ? medianUp(tips) : model.minPriorityFeeWei
  const rewardsWei = baseFees.value.baseFeesWei.map(() => tipWei)
  return priced({ ...baseFees.value, rewardsWei }, model, tipWei, isMedian ? 'median' : 'configured')
}

/**
 * How many estimates a median needs, so that those who may lie cannot place it: 2f + 1 of f that may lie,
 * and three at the least. @source design.md 5.4
 */
export function estimatesNeeded({ voters, threshold }: Electorate): number {
  return Math.max(3, 2 * (countVoices(voters) - threshold) + 1)
}

/** One per voice. */
function tipEstimates(votes: readonly Vote<FeeHistory>[], model: FeeModel): readonly bigint[] {
  const byVoice = new Map<string, bigint>()
  for (const { voice, value } of votes) {
    if (value !== undefined && !byVoice.has(voice)) byVoice.set(voice, tipOf(value, model))
  }
  return [...byVoice.values()]
}

function priced(history: FeeHistory, model: FeeModel, tipWei: bigint, tipFrom: TipSource): AgreedGas {
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
