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
 * The exchange takes actions whose nonce is at most two days behind its clock; an hour more is for the
 * difference between clocks. @source Hyperliquid API, "Nonces and API wallets"
 */
const resendWindowMs = 49n * 3_600_000n

/**
 * The recent transactions of every depository, then the named transaction. An action that failed may be sent
 * again with its old signature while the exchange takes its nonce, so that only one that is too old for that
 * has expired; without a name the withdrawal stays pending, however old: a list of recent transactions proves
 * nothing of older ones.
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
      if (executed !== undefined) return { kind: 'final', facts: executed }
      if (transactionId === undefined) return { kind: 'final', facts: { status: 'pending' } }
      const body = await view.explore(transactionRequest(transactionId), signal)
      const transaction = parseTransaction(body, transactionId)
      if (transaction === undefined) return { kind: 'refused', reason: 'missing' }
      return { kind: 'final', facts: judgeNamed(transaction, reading) }
    },
  }
}

/** Failed ones are passed over: only a transaction that the caller names ends a withdrawal without payment. */
function findExecution(
  recent: readonly HyperliquidTransaction[],
  reading: WithdrawalReading,
): SeenWithdrawal | undefined {
  const execution = recent.find((transaction) => !transaction.hasFailed && carries(transaction, reading))
  return execution === undefined ? undefined : shown('executed', execution)
}

function judgeNamed(transaction: HyperliquidTransaction, reading: WithdrawalReading): SeenWithdrawal {
  if (!carries(transaction, reading)) return { status: 'pending' }
  if (!transaction.hasFailed) return shown('executed', transaction)
  const isTooOld = BigInt(reading.nowMs) - reading.nonce > resendWindowMs
  if (isTooOld) return shown('expired', transaction)
  return { status: 'pending', pendingReason: 'ACTION_CAN_BE_SENT_AGAIN' }
}

function carries({ user, send }: HyperliquidTransaction, reading: WithdrawalReading): boolean {
  if (send === undefined || !reading.depositories.includes(user)) return false
  return hyperliquidWithdrawalId(send) === reading.withdrawalId
}

function shown(status: WithdrawalStatus, transaction: HyperliquidTransaction): SeenWithdrawal {
  const { hash, user, blockNumber } = transaction
  return { status, shownBy: { transactionId: hash, depository: user, blockNumber } }
}
