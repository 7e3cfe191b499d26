import type { WithdrawalStatus } from '@causeway/core'
import type { ChainQuestion } from '@causeway/rpc'
import { MalformedAnswerError, reachedBy } from '@causeway/rpc'
import { parseAccount, parseBlock, parseHead } from './answers.ts'
import { seeTransaction } from './readTransaction.ts'
import { accountCall, blockCall, headCall, transactionCall } from './requests.ts'
import { isUsed, provesExecution, type WithdrawalTerms, withdrawalStatus } from './withdrawals.ts'

export type WithdrawalReading = {
  readonly terms: WithdrawalTerms
  readonly depository: string
  readonly usedRequest: string
  /** The transaction that is said to execute the withdrawal. */
  readonly transactionId: string | undefined
  readonly threshold: number
}

/** A withdrawal as the final block shows it. */
export type FinalWithdrawal = {
  readonly status: WithdrawalStatus
  /** True when the named transaction is final and proven to execute the withdrawal. */
  readonly isExecuting: boolean
  readonly finalBlock: { readonly slot: bigint; readonly hash: string }
}

type OwnView = { readonly head: bigint; readonly isProof: boolean; readonly isUnreadable: boolean }

/**
 * The two rounds of one endpoint: its newest final slot and the named transaction; then the time of the
 * slot that enough endpoints have reached, and the used-request account no older than that slot. The clock
 * is never younger than the state, so nothing can be executed between the two and called expired.
 * @source rule F-141
 */
export function withdrawalQuestion(
  reading: WithdrawalReading,
): Omit<ChainQuestion<OwnView, bigint, FinalWithdrawal>, 'signal'> {
  const { terms, depository, usedRequest, transactionId, threshold } = reading
  return {
    async first(view, signal) {
      const transactionCalls = transactionId === undefined ? [] : [transactionCall(transactionId)]
      const [head, answer] = await view.ask([headCall(), ...transactionCalls], signal)
      const transaction =
        transactionId === undefined ? 'missing' : await seeTransaction(answer, { transactionId, depository })
      return {
        head: parseHead(head),
        isProof:
          typeof transaction !== 'string' && provesExecution(transaction, terms.withdrawalId, depository),
        isUnreadable: transaction === 'unreadable',
      }
    },
    pin: (views) =>
      reachedBy(
        threshold,
        views.map(({ head }) => head),
      ),
    async second(view, { isProof, isUnreadable }, slot, signal) {
      const [block, account] = await view.ask([blockCall(slot), accountCall(usedRequest, slot)], signal)
      const { hash, timeSeconds } = parseBlock(block)
      if (timeSeconds === undefined) throw new MalformedAnswerError('getBlock')
      const status = withdrawalStatus({
        isUsed: isUsed(parseAccount(account, slot), depository),
        expirationSeconds: terms.expirationSeconds,
        finalBlockSeconds: timeSeconds,
      })
      // It may be the proof. Of any other status none is needed.
      if (status === 'executed' && isUnreadable) return { kind: 'refused', reason: 'unreadable' }
      const isExecuting = status === 'executed' && isProof
      return { kind: 'final', facts: { status, isExecuting, finalBlock: { slot, hash } } }
    },
  }
}
