import type { Hex } from '@causeway/core'

/** A decoded transaction, with addresses instead of indices, as rules read it. */
export type SolanaTransaction = {
  readonly transactionId: string
  readonly slot: bigint
  readonly blockTimeSeconds: bigint | undefined
  readonly succeeded: boolean
  /** Accounts that signed the transaction. */
  readonly signers: readonly string[]
  /**
   * All top-level instructions, then all inner ones, in the order of the node. A deposit's place among them
   * is a part of its onchain id.
   */
  readonly instructions: readonly SeenInstruction[]
  /** Every account of the transaction once, with its balance in lamports. */
  readonly balances: readonly LamportBalance[]
  readonly tokenBalances: readonly TokenBalance[]
}

/** An instruction that was executed. `accounts`: addresses in the instruction's order. */
export type SeenInstruction = {
  readonly program: string
  readonly accounts: readonly string[]
  /** Empty for an inner instruction of a program that no rule reads. */
  readonly data: Hex
}

/** Balance of an account in lamports; `undefined` if JSON does not hold it exactly. */
export type LamportBalance = {
  readonly account: string
  readonly before: bigint | undefined
  readonly after: bigint | undefined
}

/** Balance of a token account in smallest units, and its owner; 0 and undefined while it did not exist. */
export type TokenBalance = {
  readonly account: string
  readonly mint: string
  readonly ownerBefore: string | undefined
  readonly ownerAfter: string | undefined
  readonly before: bigint
  readonly after: bigint
}
