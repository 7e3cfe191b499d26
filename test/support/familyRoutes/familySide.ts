import type { FactsReader, Hex, WithdrawalStatus } from '@causeway/core'
import type { AttestedChain } from '../../../apps/oracle/src/attestations/context.ts'

export type OpenReader = { readonly reader: FactsReader; close(): Promise<void> }

/** A deposit as its chain shows it. */
export type SeenDeposit = {
  /** Canonical. */
  readonly transactionId: string
  /** A part of the onchain id. @source rule P-127 */
  readonly onchainIndex: string
  readonly depositor: string
  /** Unix seconds of its block. */
  readonly timestampSeconds: bigint
}

export type Paying = {
  /** Default: no order is named. */
  readonly orderId?: Hex
  readonly amount: bigint
  readonly recipient: string
}

/** A withdrawal, what became of it, and what a caller knows of it. */
export type SeenWithdrawal = {
  readonly withdrawal: Hex
  readonly withdrawalId: Hex
  readonly status: WithdrawalStatus
  readonly currency: string
  readonly recipient: string
  readonly amount: bigint
  /** That pays. Default: the primary one. */
  readonly depository?: string
  /** That the caller names. */
  readonly transactionId?: string
  /** Proven to have executed it. */
  readonly executingTransactionId?: string
}

/** An owner of a balance on the hub, with an account of the family. */
export type Owner = {
  readonly account: string
  /** As the family's wallets sign the SHA-256 of a request. */
  sign(requestHash: Uint8Array): Hex
}

/** One family's chain, what is done on it, and readers of it: the part of a test that differs by family. */
export type FamilySide = {
  readonly chain: AttestedChain & { readonly depository: string }
  /** Currency of the orders, and its token on the hub where the protocol publishes it. */
  readonly currency: string
  readonly hubToken?: bigint
  readonly recipient: string
  /** Names the native currency, which is that of orders on some families. */
  readonly native: string
  /** Somebody whom no order names. */
  readonly stranger: string
  /** Well formed, and of no transaction. */
  readonly missingTransactionId: string
  /** One endpoint, or the first of three; nothing that was read is remembered. */
  openReader(endpoints: 1 | 3): OpenReader
  /** Deposits 1,000 units, for an order or for nobody. Final when it returns. */
  deposit(orderId?: Hex): Promise<SeenDeposit>
  /** Final when it returns. @returns the transaction id */
  pay(payment: Paying): Promise<string>
  /** Pays out a withdrawal from the depository, and names the transaction. Final when it returns. */
  withdraw(): Promise<SeenWithdrawal & { readonly transactionId: string }>
  /** From now on the first endpoint says something else in every answer, or the truth again. */
  lie(seed: number | undefined): void | Promise<void>
  /** From now on the first endpoint answers with a page of HTML. */
  fail(): void | Promise<void>
}
