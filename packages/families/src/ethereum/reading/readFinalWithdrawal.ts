import type { Hex, WithdrawalStatus } from '@causeway/core'
import type { ChainQuestion, EndpointView, Sighting } from '@causeway/rpc'
import {
  contractCall,
  type EvmHeader,
  headerCall,
  parseBool,
  parseHeader,
  parseReceipt,
  receiptCall,
} from './answers.ts'
import {
  type FinalHeight,
  type FinalityRule,
  type Heads,
  headsOf,
  isTooYoung,
  pinFinalHeight,
} from './finality.ts'
import { headCalls, parseHeads } from './headRound.ts'
import { callRequestsData, provesExecution, type WithdrawalTerms, withdrawalStatus } from './withdrawals.ts'

/** Parameters of one reading of a withdrawal. */
export type WithdrawalReading = {
  readonly terms: WithdrawalTerms
  readonly depository: string
  /** The transaction that is said to execute the withdrawal. */
  readonly transactionId: string | undefined
  readonly rule: FinalityRule
  readonly threshold: number
}

/** A withdrawal as the final block shows it. */
export type FinalWithdrawal = {
  readonly status: WithdrawalStatus
  /** True when the named transaction is final and proven to execute the withdrawal. */
  readonly isExecuting: boolean
  readonly finalBlock: { readonly number: bigint; readonly hash: Hex }
}

type FirstRound = { readonly heads: Heads; readonly receipt: ReturnType<typeof parseReceipt> }

/**
 * The question for a withdrawal, which each endpoint is asked in two rounds. First its heads and the receipt of the
 * named transaction; then the depository's state at the agreed height, and headers there and of the receipt's block.
 */
export function withdrawalQuestion(
  reading: WithdrawalReading,
): Omit<ChainQuestion<FirstRound, FinalHeight, FinalWithdrawal>, 'signal'> {
  const { rule, threshold, transactionId } = reading
  return {
    async first(view, signal) {
      const receiptCalls = transactionId === undefined ? [] : [receiptCall(transactionId)]
      const answers = await view.ask([...receiptCalls, ...headCalls(rule)], signal)
      return {
        heads: parseHeads(rule, answers.slice(receiptCalls.length)),
        receipt: transactionId === undefined ? undefined : parseReceipt(answers[0], transactionId),
      }
    },
    pin: (views) => pinFinalHeight(rule, threshold, views.map(headsOf)),
    second: (view, own, pin, signal) => judge(view, { ...reading, own, pin }, signal),
  }
}

/** `own`: the endpoint's first round; `pin`: the height that was agreed from all first rounds. */
type JudgeInput = WithdrawalReading & { readonly own: FirstRound; readonly pin: FinalHeight }

/** One endpoint's vote, from both rounds. */
async function judge(
  view: EndpointView,
  judging: JudgeInput,
  signal: AbortSignal,
): Promise<Sighting<FinalWithdrawal>> {
  const { terms, depository, own, pin, rule } = judging
  const height = rule.mode === 'time' ? await agedHeight(view, judging, signal) : pin.height
  // No block is final, since the chain is younger than its finality rule, or none of those that were tried.
  if (height < 0n) return { kind: 'not_final', waitSeconds: 1 }
  const { receipt } = own
  const proof =
    typeof receipt === 'object' &&
    receipt.succeeded &&
    receipt.blockNumber <= height &&
    provesExecution(receipt.logs, terms, depository)
      ? receipt
      : undefined
  const [used, finalHeader, ...proofHeader] = await view.ask(
    [
      contractCall(depository, callRequestsData(terms.withdrawalId), height),
      headerCall(height),
      ...(proof === undefined ? [] : [headerCall(proof.blockNumber)]),
    ],
    signal,
  )
  const { number, hash, timestampSeconds } = parseHeader(finalHeader, height)
  const withdrawalState = { isUsed: parseBool(used), finalBlockSeconds: timestampSeconds }
  const status = withdrawalStatus(terms, judging, withdrawalState)
  const isExecuting =
    status === 'executed' &&
    proof !== undefined &&
    parseHeader(proofHeader[0], proof.blockNumber).hash === proof.blockHash
  return { kind: 'final', facts: { status, isExecuting, finalBlock: { number, hash } } }
}

/**
 * Distances below the head that are tried in mode `time`: each is a quarter more than the one before, so that the block
 * found is at most a quarter deeper than needed.
 */
const distances = [...new Set(Array.from({ length: 40 }, (_, power) => BigInt(Math.ceil(1.25 ** power))))]

/**
 * Mode `time`: height of the newest of the tried blocks that is old enough; -1 if none is. The pin is the head itself
 * there, so all endpoints try the same heights.
 */
async function agedHeight(
  view: EndpointView,
  { pin, rule }: JudgeInput,
  signal: AbortSignal,
): Promise<bigint> {
  const heights = [pin.headNumber, ...distances.map((distance) => pin.headNumber - distance)].filter(
    (height) => height >= 0n,
  )
  const answers = await view.ask(heights.map(headerCall), signal)
  const headers: readonly EvmHeader[] = heights.map((height, index) => parseHeader(answers[index], height))
  return headers.find(({ timestampSeconds }) => !isTooYoung(rule, pin, timestampSeconds))?.number ?? -1n
}
