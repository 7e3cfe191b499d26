import type { Hex } from '@causeway/core'

/** A transaction with its accounts named: what the recognisers read. */
export type SolanaTransaction = {
  readonly transactionId: string
  readonly slot: bigint
  readonly blockTimeSeconds: bigint | undefined
  readonly succeeded: boolean
  /** Accounts that signed the transaction. */
  readonly signers: readonly string[]
  /** All top-level instructions, then all inner ones, in the order of the node. @source oracle-protocol.md 1.3 */
  readonly instructions: readonly SolanaInstruction[]
  /** Every account of the transaction once, with its balance in lamports. */
  readonly balances: readonly LamportBalance[]
  readonly tokenBalances: readonly TokenBalance[]
}

export type SolanaInstruction = {
  readonly program: string
  readonly accounts: readonly string[]
  /** Empty for an inner instruction of a program that no rule reads. */
  readonly data: Hex
}

/** `undefined` where JSON could not hold the number. */
export type LamportBalance = {
  readonly account: string
  readonly before: bigint | undefined
  readonly after: bigint | undefined
}

/** One token account, 0 where it did not exist. */
export type TokenBalance = {
  readonly account: string
  readonly mint: string
  readonly ownerBefore: string | undefined
  readonly ownerAfter: string | undefined
  readonly before: bigint
  readonly after: bigint
}
