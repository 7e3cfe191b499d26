import type { Hex } from '@causeway/core'

/** Token and account of a top-up. Addresses are lower case. */
export type TopUpTarget = {
  /** The one token that is credited. */
  readonly token: Hex
  /** Account that top-ups are sent to; held by no service. */
  readonly custody: Hex
  /** Accept calldata that goes on after the tail, as wallets that add attribution bytes send it. */
  readonly allowTrailing: boolean
  /**
   * True of an account that other money comes to as well: only what names a sponsor is a top-up, whole or broken.
   * Default: whatever arrives is one.
   */
  readonly isTaggedOnly?: boolean
  /** Accounts of the operator: what they send without naming a sponsor moves between his own. Lower case. */
  readonly ownAccounts?: readonly Hex[]
}

/** One ERC-20 transfer of the token to custody, as a receipt has it. */
export type TopUpLog = {
  /** Position among all logs of its receipt: the same wherever the transaction is included. */
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
  /** Its effects and those of all calls below it were undone. */
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
  /** Every transfer of the token to custody, in receipt order, those of nothing included. */
  readonly logs: readonly TopUpLog[]
  /** With it, calls through contracts can be attributed. */
  readonly trace?: CallFrame
}

/**
 * Why money arrived that cannot be credited by itself:
 * - `bad_tail`: one marker only, or fewer bytes than a tail has
 * - `no_tail`: a plain transfer, or 32 bytes without markers
 * - `trailing_bytes`: calldata goes on after the tail and the setting refuses that
 * - `bad_owner`: the tail names custody, the token or a precompile
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

export type TopUpVerdict =
  | { readonly kind: 'credit'; readonly parse: 'ok' | 'ok_trailing'; readonly owner: Hex }
  | { readonly kind: 'suspense'; readonly parse: SuspenseReason }

/** A classified transfer. Only `log.from`, the account whose tokens moved, may claim a suspended one. */
export type ClassifiedTransfer = {
  readonly log: TopUpLog
  /** The 32 bytes that stand where a tail would; whole tails only. */
  readonly tail: Hex | undefined
  readonly verdict: TopUpVerdict
}
