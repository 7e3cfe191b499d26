import type { Hex, WithdrawalQuestion, WithdrawalStatus } from '@causeway/core'
import type { FamilyChain, ReadableChain } from '../../../packages/families/src/shared/familyChain.ts'
import type { RoundProxy } from './roundProxy.ts'

/**
 * A running chain of one VM family, the same to ask of every family. Amounts are in the smallest unit of
 * `currency`, the chain's native one. Nothing is final before `finalize`.
 */
export type FamilyBed = {
  /** As the configuration has it: id, family, network, depository, endpoints, hub chain id. */
  readonly chain: ReadableChain
  readonly currency: string
  readonly decimals: number
  /** Sender of the deposits. */
  readonly depositor: string
  readonly recipient: string
  /** Somebody else who can be paid. */
  readonly otherRecipient: string
  /** Extra data of an output or refund on this chain. */
  readonly extraData: Hex
  /** Deposits for an order. */
  deposit(deposit: { readonly orderId: Hex; readonly amount: bigint }): Promise<BedDeposit>
  /** Pays one of the two recipients for an order. @returns the transaction id, canonical */
  pay(payment: BedPayment): Promise<string>
  /** A withdrawal in that state, asked with the transaction that proves the state where one does. */
  withdrawal(status: WithdrawalStatus): Promise<WithdrawalQuestion>
  /** Makes everything so far final. */
  finalize(): Promise<void>
  /** Reads through `upstream`. @param finalEntriesMax final transactions kept; default 0 */
  open(finalEntriesMax?: number): FamilyChain
  /** Proxy that counts requests to the chain's endpoint. */
  readonly upstream: RoundProxy
  stop(): Promise<void>
}

export type BedDeposit = {
  /** Canonical. */
  readonly transactionId: string
  readonly onchainId: Hex
  /** Time of its block. */
  readonly timestampSeconds: bigint
}

export type BedPayment = { readonly orderId: Hex; readonly recipient: string; readonly amount: bigint }
