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
  /** Address of the account that the depository creates when it executes the withdrawal. */
  readonly usedRequest: string
  /** The transaction that is said to execute the withdrawal. */
  readonly transactionId: string | undefined
  readonly threshold: number
}

/** State of a withdrawal at a final block. */
export type FinalWithdrawal = {
  readonly status: WithdrawalStatus
  /** True when the named transaction is final and proven to execute the withdrawal. */
  readonly isExecuting: boolean
  readonly finalBlock: { readonly slot: bigint; readonly hash: string }
}

/** First answer of one endpoint. `isProof`: the named transaction executed the withdrawal. */
type OwnView = { readonly head: bigint; readonly isProof: boolean; readonly isUnreadable: boolean }

/**
 * Asks each endpoint in two rounds. First: its newest final slot, and the named transaction. Second: the time
 * of the slot that enough endpoints have reached, and the used-request account at that slot or later. So the account is
 * never older than the time: a withdrawal that was executed in between cannot be called expired.
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
      // The unreadable transaction may be the proof, which only an executed withdrawal needs.
      if (status === 'executed' && isUnreadable) return { kind: 'refused', reason: 'unreadable' }
      const isExecuting = status === 'executed' && isProof
      return { kind: 'final', facts: { status, isExecuting, finalBlock: { slot, hash } } }
    },
  }
}
