import { DomainError } from '@causeway/core'
import type { OriginRoute } from './originRoute.ts'
import type { PlannedTransaction } from './plannedTransaction.ts'

/** Why the user cannot pay out the input currency that he holds, such as a blocked or frozen token account. */
export type InputLock = {
  /** Predicate of a sentence whose subject is the user. */
  readonly why: string
  /** True if only programs and contracts cannot take it, and the user can still send it himself. */
  readonly isForCalls: boolean
}

/** The user holds the input but cannot pay it out; found out before anybody signs. @source F-99 */
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

/**
 * Adds the refusal to the transactions of a user who cannot pay: they are priced, but not offered as steps. Payments to
 * a deposit address, which another wallet may make, and transfers that the lock leaves open stay as they are. Pure.
 */
export function refuseLocked(
  transactions: readonly PlannedTransaction[],
  { by, amountIn }: Pick<OriginRoute, 'by' | 'amountIn'>,
  lock: InputLock | undefined,
): readonly PlannedTransaction[] {
  if (lock === undefined || by === 'pay-address' || (by === 'send' && lock.isForCalls)) return transactions
  const refusal = new InputLockedError(lock, amountIn)
  return transactions.map((transaction) => ({ ...transaction, refusal }))
}
