import { DomainError } from '@causeway/core'
import type { OriginRoute, PlannedTransaction } from './quotingFamily.ts'

/** Why the user's own account of the input pays nothing out. */
export type InputLock = {
  /** After the user's name in a sentence. */
  readonly why: string
  /** Programs and contracts move nothing of it; the user may still send it himself. */
  readonly isForCalls: boolean
}

/** The user holds the input and cannot pay it; known before anybody signs. @source F-99 */
export class InputLockedError extends DomainError {
  readonly code = 'INSUFFICIENT_FUNDS'
  readonly kind = 'invalid_request'

  /** @param needed smallest units of the input */
  constructor({ why }: InputLock, needed: bigint) {
    super(`user ${why}, so nothing of it can be deposited.`, {
      data: { field: 'user', availableAmount: '0', neededAmount: needed.toString() },
    })
  }
}

/** Transactions of a user who cannot pay have a price and are no steps; any wallet may pay an address. Pure. */
export function refuseLocked(
  transactions: readonly PlannedTransaction[],
  { by, amountIn }: Pick<OriginRoute, 'by' | 'amountIn'>,
  lock: InputLock | undefined,
): readonly PlannedTransaction[] {
  if (lock === undefined || by === 'pay-address' || (by === 'send' && lock.isForCalls)) return transactions
  const refusal = new InputLockedError(lock, amountIn)
  return transactions.map((transaction) => ({ ...transaction, refusal }))
}
