import type { Hex } from '@causeway/core'

/** Terms by which a transfer counts as a top-up on one chain. Addresses are lower case. */
export type TopUpTarget = {
  /** The one token that is credited. */
  readonly token: Hex
  /** Account that top-ups are sent to. */
  readonly custody: Hex
  /** Accept calldata that goes on after the tail, as wallets that add attribution bytes send it. */
  readonly allowTrailing: boolean
  /**
   * True if custody is an account that receives other money too: then only transfers with a marker are top-ups, also if
   * the tail is broken. Default: every transfer is one.
   */
  readonly isTaggedOnly?: boolean
  /** Accounts of the operator: their transfers that name no sponsor are moves of his own money. Lower case. */
  readonly ownAccounts?: readonly Hex[]
}

/** One ERC-20 transfer of the token to custody, as a receipt has it. */
export type TopUpLog = {
  /** Position among all logs of its receipt: the same in whichever block the transaction is included. */
  readonly ordinal: number
  /** Position among all logs of its block: changes with the block. */
  readonly logIndex: number
  readonly from: Hex
  /** Smallest unit of the token. */
  readonly value: bigint
}

/** One call of a transaction as the call tracer of a node reports it. */
export type CallFrame = {
  /** `CALL`, `DELEGATECALL`, `STATICCALL`, `CREATE`, … */
  readonly type: string
  readonly from: Hex
  readonly to: Hex | undefined
  readonly input: Hex
  /** True if its effects, and those of all calls below it, were undone. */
  readonly isReverted: boolean
  readonly calls: readonly CallFrame[]
}

/** A node's data about one transaction that moved the token to custody. */
export type TopUpFacts = {
  /** False: the receipt's status is a failure. */
  readonly succeeded: boolean
  readonly from: Hex
  /** Absent when the transaction created a contract. */
  readonly to: Hex | undefined
  readonly input: Hex
  /** Every transfer of the token to custody, also of 0, in receipt order. */
  readonly logs: readonly TopUpLog[]
  /** Outermost call of a trace. Needed only to attribute transfers that other contracts made, see `needsTrace`. */
  readonly trace?: CallFrame
}

/**
 * Reasons for which arrived money waits in suspense, credited to nobody:
 * - `bad_tail`: one marker only, or fewer bytes than a tail has
 * - `no_tail`: a plain transfer, or 32 bytes without markers
 * - `trailing_bytes`: calldata goes on after the tail and the setting refuses that
 * - `bad_owner`: the account to credit is custody, the token, a precompile or one of the operator's own
 * - `ambiguous_sender`: `transferFrom` without a named owner has two senders
 * - `unknown_call`: the token was called directly, but not by a call that explains this transfer
 * - `indirect`: another contract made the transfer
 * - `trace_mismatch`: calls and logs of the transaction do not pair up
 */
export const suspenseReasons = [
  'bad_tail',
  'no_tail',
  'trailing_bytes',
  'bad_owner',
  'ambiguous_sender',
  'unknown_call',
  'indirect',
  'trace_mismatch',
] as const

export type SuspenseReason = (typeof suspenseReasons)[number]

/** Whom a transfer credits, or why it waits. `ok_trailing`: more calldata follows the tail. */
export type TopUpVerdict =
  | { readonly kind: 'credit'; readonly parse: 'ok' | 'ok_trailing'; readonly owner: Hex }
  | { readonly kind: 'suspense'; readonly parse: SuspenseReason }

/** A classified transfer. Only `log.from`, the account whose tokens moved, may claim a suspended one. */
export type ClassifiedTransfer = {
  readonly log: TopUpLog
  /** The 32 bytes at the place of a tail, whatever they are; undefined if there are fewer. */
  readonly tail: Hex | undefined
  readonly verdict: TopUpVerdict
}
