import type { PendingReason, WithdrawalStatus } from '@causeway/core'
import type { HttpView } from '@causeway/rpc'
import { singleRoundQuestion } from '@causeway/rpc'
import type { LighterTransaction } from './answers.ts'
import { readTransaction } from './api.ts'
import { takesNonce, type WithdrawalTerms, withdrawalIdOf } from './withdrawals.ts'

export type WithdrawalReading = {
  readonly terms: Pick<WithdrawalTerms, 'withdrawalId' | 'nonce'>
  /** Transactions that may have paid out, or taken the nonce, named by the caller or by an explorer. Canonical. */
  readonly candidates: readonly string[]
  readonly lighterChainId: bigint
}

export type SeenWithdrawal = {
  readonly status: WithdrawalStatus
  /** The one that executed it. */
  readonly transactionId: string | undefined
  /** Why it is pending although its transfer failed. */
  readonly pendingReason?: PendingReason
}

/**
 * The one round of an endpoint: the candidates. A transfer that was executed says more than others of the same
 * withdrawal that were not; without one the withdrawal ends when another transaction has its nonce.
 */
export function withdrawalQuestion(
  reading: WithdrawalReading,
): ReturnType<typeof singleRoundQuestion<SeenWithdrawal, HttpView>> {
  return singleRoundQuestion(async (view, signal) => ({
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
    executes(transaction, terms.withdrawalId, lighterChainId),
  )
  const executed = matching.find(({ status }) => status === 'executed')
  if (executed !== undefined) return { status: 'executed', transactionId: executed.transactionId }
  const isNonceTaken = transactions.some((one) => one !== undefined && takesNonce(one, terms.nonce))
  if (isNonceTaken) return { status: 'expired', transactionId: undefined }
  const hasFailed = matching.some(({ status }) => status === 'failed')
  return {
    ...{ status: 'pending', transactionId: undefined },
    ...(hasFailed && { pendingReason: 'ACTION_CAN_BE_SENT_AGAIN' }),
  }
}

function executes(
  transaction: LighterTransaction | undefined,
  withdrawalId: string,
  lighterChainId: bigint,
): transaction is LighterTransaction {
  if (transaction?.transfer === undefined) return false
  return withdrawalIdOf(transaction.transfer, lighterChainId) === withdrawalId
}
