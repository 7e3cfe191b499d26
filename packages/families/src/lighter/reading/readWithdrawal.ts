import type { PendingReason, WithdrawalStatus } from '@causeway/core'
import type { HttpView } from '@causeway/rpc'
import { singleRoundQuestion } from '@causeway/rpc'
import type { LighterTransaction } from './answers.ts'
import { readTransaction } from './api.ts'
import { takesNonce, type WithdrawalTerms, withdrawalIdOf } from './withdrawals.ts'

export type WithdrawalReading = {
  readonly terms: Pick<WithdrawalTerms, 'withdrawalId' | 'nonce'>
  /** Transactions that may have executed it or spent its nonce, named by the caller or an explorer. Canonical. */
  readonly candidates: readonly string[]
  readonly lighterChainId: bigint
}

/** State of a withdrawal as an endpoint shows it. */
export type SeenWithdrawal = {
  readonly status: WithdrawalStatus
  /** Transaction that executed it; undefined for every other status. */
  readonly transactionId: string | undefined
  /** Why it is pending although its transfer failed. */
  readonly pendingReason?: PendingReason
}

/**
 * Asks each endpoint for the candidates, in one round. The withdrawal is executed if one of its transfers was, whatever
 * became of others; otherwise it expires when another transaction was executed with its nonce.
 */
export function withdrawalQuestion(
  reading: WithdrawalReading,
): ReturnType<typeof singleRoundQuestion<SeenWithdrawal, HttpView>> {
  return singleRoundQuestion(async (view, signal) => ({
    // `final` marks an answer with facts, also with those of a pending withdrawal.
    kind: 'final',
    facts: await judge(view, reading, signal),
  }))
}

async function judge(
  view: HttpView,
  { terms, candidates, lighterChainId }: WithdrawalReading,
  signal: AbortSignal,
): Promise<SeenWithdrawal> {
  const transactions = await Promise.all(
    candidates.map((candidate) => readTransaction(view, candidate, signal)),
  )
  const matching = transactions.filter((transaction) =>
    isOfWithdrawal(transaction, terms.withdrawalId, lighterChainId),
  )
  const executed = matching.find(({ status }) => status === 'executed')
  if (executed !== undefined) return { status: 'executed', transactionId: executed.transactionId }
  const isNonceTaken = transactions.some(
    (transaction) => transaction !== undefined && takesNonce(transaction, terms.nonce),
  )
  if (isNonceTaken) return { status: 'expired', transactionId: undefined }
  const hasFailed = matching.some(({ status }) => status === 'failed')
  return {
    status: 'pending',
    transactionId: undefined,
    ...(hasFailed && { pendingReason: 'ACTION_CAN_BE_SENT_AGAIN' }),
  }
}

/** True if the transaction is a transfer of the withdrawal, executed or not. */
function isOfWithdrawal(
  transaction: LighterTransaction | undefined,
  withdrawalId: string,
  lighterChainId: bigint,
): transaction is LighterTransaction {
  if (transaction?.transfer === undefined) return false
  return withdrawalIdOf(transaction.transfer, lighterChainId) === withdrawalId
}
