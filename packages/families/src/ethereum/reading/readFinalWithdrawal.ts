import type { Hex, WithdrawalStatus } from '@causeway/core'
import type { ChainQuestion, EndpointView, RpcAnswer, Sighting } from '@causeway/rpc'
import { contractCall, headerCall, parseBool, parseHeader, parseReceipt, receiptCall } from './answers.ts'
import { finalHeight } from './finalBlocks.ts'
import { type FinalHeight, type FinalityRule, type Heads, headsOf, pinFinalHeight } from './finality.ts'
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
  const { terms, depository, own, pin } = judging
  // The newest block that is final by the rule. Where the rule asks for an age, it lies below `pin.height`, the height that was
  // agreed from all first rounds.
  const height = await finalHeight(view, judging, signal)
  // No block is final, since the chain is younger than its finality rule.
  if (height < 0n) return { kind: 'not_final', waitSeconds: 1 }
  const { receipt } = own
  const proof =
    typeof receipt === 'object' &&
    receipt.succeeded &&
    receipt.blockNumber <= height &&
    provesExecution(receipt.logs, terms, depository)
      ? receipt
      : undefined
  const usedAt = (block: bigint) => contractCall(depository, callRequestsData(terms.withdrawalId), block)
  const [usedAtFinal, usedAtPinned, finalHeader, ...proofHeader] = await view.ask(
    [
      usedAt(height),
      usedAt(pin.height),
      headerCall(height),
      ...(proof === undefined ? [] : [headerCall(proof.blockNumber)]),
    ],
    signal,
  )
  const { number, hash, timestampSeconds } = parseHeader(finalHeader, height)
  const isProven =
    proof !== undefined && parseHeader(proofHeader[0], proof.blockNumber).hash === proof.blockHash
  const isUsed = isUsedInFinal(usedAtFinal, usedAtPinned, isProven)
  const status = withdrawalStatus(terms, judging, { isUsed, finalBlockSeconds: timestampSeconds })
  const isExecuting = status === 'executed' && isProven
  return { kind: 'final', facts: { status, isExecuting, finalBlock: { number, hash } } }
}

/**
 * True if the depository has used the request in the final block. Where seconds count, that block is so old that many
 * nodes have pruned its state. Then a proven execution shows that the request is used. A younger block, the pinned one,
 * in which it is not used shows that it was not used before either.
 * @throws MalformedAnswerError if neither shows it
 */
function isUsedInFinal(
  usedAtFinal: RpcAnswer | undefined,
  usedAtPinned: RpcAnswer | undefined,
  isProven: boolean,
): boolean {
  if (usedAtFinal?.ok === true) return parseBool(usedAtFinal)
  if (isProven) return true
  if (!parseBool(usedAtPinned)) return false
  // It was used at some time up to the pinned block: this throws for the answer that is missing.
  return parseBool(usedAtFinal)
}
