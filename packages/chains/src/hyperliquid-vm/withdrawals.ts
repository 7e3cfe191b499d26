import { type Hex, hyperliquidWithdrawalId, type WithdrawalStatus } from '@causeway/core'
import type { ChainQuestion } from '../quorum/quorumClient.ts'
import { type HyperliquidTransaction, parseRecent, parseTransaction } from './answers.ts'
import type { HyperliquidView } from './hyperliquidView.ts'
import { recentRequest, transactionRequest } from './requests.ts'

/** A withdrawal as the exchange shows it. */
export type SeenWithdrawal = {
  readonly status: WithdrawalStatus
  /** The transaction that shows it, and the depository that signed it; none while pending. */
  readonly shownBy?: {
    readonly transactionId: string
    readonly depository: string
    readonly blockNumber: bigint | undefined
  }
}

export type WithdrawalReading = {
  readonly withdrawalId: Hex
  /** Canonical; the first is the primary one. */
  readonly depositories: readonly string[]
  /** Canonical; looked at when no recent transaction executed the withdrawal. */
  readonly transactionId: string | undefined
}

/**
 * The recent transactions of every depository, then the named transaction. The exchange takes the nonce of
 * an action once, so that a named action that failed can not be repeated; without any the withdrawal stays
 * pending, however old: a list of recent transactions proves nothing of older ones.
 * @source oracle-protocol.md 5.4
 */
export function withdrawalQuestion(
  reading: WithdrawalReading,
): Omit<ChainQuestion<SeenWithdrawal | undefined, undefined, SeenWithdrawal, HyperliquidView>, 'signal'> {
  const { depositories, transactionId } = reading
  return {
    async first(view, signal) {
      const recent = await Promise.all(
        depositories.map(async (depository) =>
          parseRecent(await view.explore(recentRequest(depository), signal), depository),
        ),
      )
      return findExecution(recent.flat(), reading)
    },
    pin: () => undefined,
    async second(view, executed, _pin, signal) {
      if (executed !== undefined) return { kind: 'final', facts: executed }
      if (transactionId === undefined) return { kind: 'final', facts: { status: 'pending' } }
      const body = await view.explore(transactionRequest(transactionId), signal)
      return { kind: 'final', facts: judgeNamed(parseTransaction(body, transactionId), reading) }
    },
  }
}

/** Failed ones are passed over: only a transaction that the caller names ends a withdrawal without payment. */
function findExecution(
  recent: readonly HyperliquidTransaction[],
  reading: WithdrawalReading,
): SeenWithdrawal | undefined {
  const found = recent.find((transaction) => !transaction.hasFailed && carries(transaction, reading))
  return found === undefined ? undefined : shown('executed', found)
}

function judgeNamed(
  transaction: HyperliquidTransaction | undefined,
  reading: WithdrawalReading,
): SeenWithdrawal {
  if (transaction === undefined || !carries(transaction, reading)) return { status: 'pending' }
  return shown(transaction.hasFailed ? 'expired' : 'executed', transaction)
}

function carries({ user, send }: HyperliquidTransaction, reading: WithdrawalReading): boolean {
  if (send === undefined || !reading.depositories.includes(user)) return false
  return hyperliquidWithdrawalId(send) === reading.withdrawalId
}

function shown(status: WithdrawalStatus, transaction: HyperliquidTransaction): SeenWithdrawal {
  const { hash, user, blockNumber } = transaction
  return { status, shownBy: { transactionId: hash, depository: user, blockNumber } }
}
