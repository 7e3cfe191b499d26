import type { Hex } from '@causeway/core'
import type { MinedTransaction } from '@causeway/families'
import type { QuotedCall } from '../orders/execution.ts'

/** Calls that were quoted to a user who executes alone, without a solver. */
export type SelfExecution = {
  readonly user: Hex
  readonly calls: readonly QuotedCall[]
  /** Head of the chain when it was quoted; earlier transactions cannot belong to it. */
  readonly afterBlock: bigint
}

/**
 * Finds the quoted call that a transaction executes: sent by the user, to the same contract, with the same value and
 * calldata, so that its success is the quoted outcome. Wallets may append bytes to the calldata, which contracts ignore.
 * Pure.
 * @param done indexes of calls that other transactions have executed
 * @returns index of the call; `undefined` for none
 * @source rule Q-200
 */
export function callMatch(
  { user, calls, afterBlock }: SelfExecution,
  mined: MinedTransaction,
  done: ReadonlySet<number>,
): number | undefined {
  if (mined.from !== user || mined.blockNumber <= afterBlock) return undefined
  const index = calls.findIndex(
    ({ to, value, data }, callIndex) =>
      !done.has(callIndex) && mined.to === to && mined.valueWei === value && mined.input.startsWith(data),
  )
  return index === -1 ? undefined : index
}
