import type { Hex, PendingReason, WithdrawalStatus } from '@causeway/core'
import type { ChainQuestion } from '@causeway/rpc'
import { hyperliquidWithdrawalId } from '../rules/withdrawal.ts'
import { type HyperliquidTransaction, parseRecent, parseTransaction } from './answers.ts'
import type { HyperliquidView } from './hyperliquidView.ts'
import { recentRequest, transactionRequest } from './requests.ts'

/** A withdrawal as the exchange shows it. */
export type SeenWithdrawal = {
  readonly status: WithdrawalStatus
  /** Why it is pending although its transaction failed. */
  readonly pendingReason?: PendingReason
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
  /** Milliseconds since 1970; the exchange takes it as the time of signing. */
  readonly nonce: bigint
  readonly nowMs: number
}

/**
 * Time in which an action can be sent again: the exchange accepts nonces up to two days behind its clock, and an hour
 * covers the difference between clocks. @source Hyperliquid API, "Nonces and API wallets"
 */
const resendWindowMs = 49n * 3_600_000n

/**
 * Asks for a withdrawal's state: first in the recent transactions of every depository, then in the transaction that
 * the caller names. A failed action may be sent again with its signature while the exchange accepts its nonce: only
 * an older one is `expired`. Without a named transaction the withdrawal stays pending, however old, because a list of
 * recent transactions proves nothing about older ones.
 * @source rule F-155
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
      // `final` marks an answer with facts, also with those of a pending withdrawal.
      if (executed !== undefined) return { kind: 'final', facts: executed }
      if (transactionId === undefined) return { kind: 'final', facts: { status: 'pending' } }
      const body = await view.explore(transactionRequest(transactionId), signal)
      const transaction = parseTransaction(body, transactionId)
      if (transaction === undefined) return { kind: 'refused', reason: 'missing' }
      return { kind: 'final', facts: judgeNamed(transaction, reading) }
    },
  }
}

/** Ignores failed transactions: only one that the caller names can end a withdrawal without payment. */
function findExecution(
  recent: readonly HyperliquidTransaction[],
  reading: WithdrawalReading,
): SeenWithdrawal | undefined {
  const execution = recent.find((transaction) => !transaction.hasFailed && carries(transaction, reading))
  return execution === undefined ? undefined : seenIn('executed', execution)
}

function judgeNamed(transaction: HyperliquidTransaction, reading: WithdrawalReading): SeenWithdrawal {
  if (!carries(transaction, reading)) return { status: 'pending' }
  if (!transaction.hasFailed) return seenIn('executed', transaction)
  const isTooOld = BigInt(reading.nowMs) - reading.nonce > resendWindowMs
  if (isTooOld) return seenIn('expired', transaction)
  return { status: 'pending', pendingReason: 'ACTION_CAN_BE_SENT_AGAIN' }
}

/** True if a depository signed the withdrawal's action in this transaction. */
function carries({ user, send }: HyperliquidTransaction, reading: WithdrawalReading): boolean {
  if (send === undefined || !reading.depositories.includes(user)) return false
  return hyperliquidWithdrawalId(send) === reading.withdrawalId
}

function seenIn(status: WithdrawalStatus, transaction: HyperliquidTransaction): SeenWithdrawal {
  const { hash, user, blockNumber } = transaction
  return { status, shownBy: { transactionId: hash, depository: user, blockNumber } }
}
