import type { WithdrawalStatus } from '@causeway/core'
import type { HttpView } from '../rpc/httpView.ts'
import { oneRound } from '../rpc/oneRound.ts'
import type { LighterTransaction } from './answers.ts'
import { readClockMs, readTransaction } from './api.ts'
import { transferStatus, type WithdrawalTerms, withdrawalIdOf } from './withdrawals.ts'

export type WithdrawalReading = {
  readonly terms: Pick<WithdrawalTerms, 'withdrawalId'>
  /** Transactions that may have paid out, named by whoever asks or by an explorer. Canonical. */
  readonly candidates: readonly string[]
  readonly lighterChainId: bigint
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

export type SeenWithdrawal = {
  readonly status: WithdrawalStatus
  /** The one that executed it. */
  readonly transactionId: string | undefined
}

/**
 * The one round of an endpoint: the candidates, and its clock where a transfer waits longer than it may. A
 * transfer that was executed says more than others of the same withdrawal that were not.
 */
export function withdrawalQuestion(
  reading: WithdrawalReading,
): ReturnType<typeof oneRound<SeenWithdrawal, HttpView>> {
  return oneRound(async (view, signal) => ({ kind: 'final', facts: await judge(view, reading, signal) }))
}

async function judge(
  view: HttpView,
  { terms, candidates, lighterChainId, now }: WithdrawalReading,
  signal: AbortSignal,
): Promise<SeenWithdrawal> {
  const seen = await Promise.all(candidates.map((candidate) => readTransaction(view, candidate, signal)))
  const matching = seen.filter((transaction) => executes(transaction, terms.withdrawalId, lighterChainId))
  const executed = matching.find(({ status }) => status === 'executed')
  if (executed !== undefined) return { status: 'executed', transactionId: executed.transactionId }
  if (matching.length === 0) return { status: 'pending', transactionId: undefined }
  const isOver = (nowMs: bigint) => matching.every((one) => transferStatus(one, nowMs) === 'expired')
  const status =
    isOver(BigInt(now())) && isOver(await clockFor(view, matching, signal)) ? 'expired' : 'pending'
  return { status, transactionId: undefined }
}

/** Only a transfer that waits has to do with the time. */
async function clockFor(
  view: HttpView,
  matching: readonly LighterTransaction[],
  signal: AbortSignal,
): Promise<bigint> {
  return matching.some(({ status }) => status === 'waiting') ? readClockMs(view, signal) : 0n
}

function executes(
  transaction: LighterTransaction | undefined,
  withdrawalId: string,
  lighterChainId: bigint,
): transaction is LighterTransaction {
  if (transaction?.transfer === undefined) return false
  return withdrawalIdOf(transaction.transfer, lighterChainId) === withdrawalId
}
