import type { Hex } from '@causeway/core'
import type { MinedTransaction } from '@causeway/families'
import type { QuotedCall } from '../orders/execution.ts'

/** Calls that a user who executes alone was quoted. */
export type SelfExecution = {
  readonly user: Hex
  readonly calls: readonly QuotedCall[]
  /** Head of the chain when it was quoted: what was mined by then is something else. */
  readonly afterBlock: bigint
}

/**
 * Which of the quoted calls a transaction is; `undefined` for none. It must be the user's own, to the same
 * contract, with the same value and calldata: then that contract's success is the quoted outcome. Wallets
 * may append bytes, which no contract reads. Pure.
 * @param done places of calls that other transactions are
 * @source rule Q-200
 */
export function callMatch(
  { user, calls, afterBlock }: SelfExecution,
  mined: MinedTransaction,
  done: ReadonlySet<number>,
): number | undefined {
  if (mined.from !== user || mined.blockNumber <= afterBlock) return undefined
  const index = calls.findIndex(
    ({ to, value, data }, place) =>
      !done.has(place) && mined.to === to && mined.valueWei === value && mined.input.startsWith(data),
  )
  return index === -1 ? undefined : index
}
