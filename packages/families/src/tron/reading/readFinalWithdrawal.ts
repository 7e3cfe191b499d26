import type { Hex } from '@causeway/core'
import type { ChainQuestion, Sighting } from '@causeway/rpc'
import { MalformedAnswerError } from '@causeway/rpc'
import { type FinalHeight, type FinalityRule, headsOf, isTooYoung } from '../../ethereum/reading/finality.ts'
import type { FinalWithdrawal } from '../../ethereum/reading/readFinalWithdrawal.ts'
import {
  provesExecution,
  type WithdrawalTerms,
  withdrawalStatus,
} from '../../ethereum/reading/withdrawals.ts'
import { parseConstantBool, parseInfo, type TronInfo } from './answers.ts'
import { askNode, type TronView } from './askNode.ts'
import { pinSolidHeight, type TronHeads } from './finality.ts'
import { readHeads, requireHeader } from './readFinalTransaction.ts'
import { callRequestsRequest, infoRequest, solidHeaderRequest } from './requests.ts'

export type WithdrawalReading = {
  readonly terms: WithdrawalTerms
  /** The 20 bytes of the depository. */
  readonly depository: Hex
  /** The transaction that is said to execute the withdrawal, without `0x`. */
  readonly transactionId: string | undefined
  readonly rule: FinalityRule
  readonly threshold: number
}

/** First answer of one endpoint. `info`: of the named transaction, if it is solidified (irreversible). */
type OwnView = { readonly heads: TronHeads; readonly info: TronInfo | undefined }

/**
 * Asks each endpoint in two rounds. First: its heads and the named transaction's info. Second: the
 * depository's record of the withdrawal, and the headers at the pinned height and of the transaction's block. Nodes
 * run calls only at their newest solidified block, which is then the pinned one or later: a request that is unused
 * there and expired at the pinned height can never be used.
 */
export function withdrawalQuestion(
  reading: WithdrawalReading,
): Omit<ChainQuestion<OwnView, FinalHeight, FinalWithdrawal, TronView>, 'signal'> {
  const { rule, threshold, transactionId } = reading
  return {
    async first(view, signal) {
      const [heads, info] = await Promise.all([
        readHeads(view, signal),
        transactionId === undefined ? undefined : askNode(view, infoRequest(transactionId), signal),
      ])
      return { heads, info: transactionId === undefined ? undefined : parseInfo(info, transactionId) }
    },
    pin: (views) => pinSolidHeight(rule, threshold, views.map(headsOf)),
    second: (view, own, pin, signal) => judge(view, { ...reading, own, pin }, signal),
  }
}

type Judging = WithdrawalReading & { readonly own: OwnView; readonly pin: FinalHeight }

async function judge(
  view: TronView,
  judging: Judging,
  signal: AbortSignal,
): Promise<Sighting<FinalWithdrawal>> {
  const { terms, depository, rule, pin } = judging
  const { height } = pin
  // The chain is younger than its own finality: none of its blocks is final.
  if (height < 0n) return { kind: 'not_final', waitSeconds: 1 }
  const proof = finalProof(judging)
  const [used, finalBody, proofBody] = await Promise.all([
    askNode(view, callRequestsRequest(depository, terms.withdrawalId), signal),
    askNode(view, solidHeaderRequest(height), signal),
    proof && askNode(view, solidHeaderRequest(proof.blockNumber), signal),
  ])
  const { number, hash, timestampSeconds } = requireHeader(finalBody, height)
  const withdrawalState = { isUsed: parseConstantBool(used), finalBlockSeconds: timestampSeconds }
  const status = withdrawalStatus(terms, { rule, pin }, withdrawalState)
  if (
    proof !== undefined &&
    requireHeader(proofBody, proof.blockNumber).timestampSeconds !== proof.timestampSeconds
  ) {
    throw new MalformedAnswerError('getblock')
  }
  const isExecuting = status === 'executed' && proof !== undefined
  return { kind: 'final', facts: { status, isExecuting, finalBlock: { number, hash } } }
}

/** Info of the named transaction, if it is final, succeeded and shows the withdrawal's payment. */
function finalProof({ own, pin, rule, terms, depository }: Judging): TronInfo | undefined {
  const { info } = own
  if (info?.succeeded !== true || info.blockNumber > pin.height) return undefined
  if (isTooYoung(rule, pin, info.timestampSeconds)) return undefined
  return provesExecution(info.logs, terms, depository) ? info : undefined
}
