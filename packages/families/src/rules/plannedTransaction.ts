import type { DomainError, Hex } from '@causeway/core'
import type { FeeFunds } from './feeFunds.ts'
import type { AccountLack, CostedTransaction, NetworkFees, UserTransactionKind } from './networkFees.ts'

/** One transaction that the user signs on the origin, before it is encoded. */
export type PlannedTransaction = CostedTransaction & {
  readonly kind: UserTransactionKind
  /** Account that an approval allows. */
  readonly spender?: string
  /** The allowance that an approval sets, in smallest units. */
  readonly allowed?: bigint
  readonly funding?: Funding
  /** Why the transaction cannot be sent now; it then has a price, but is not offered as a step. */
  readonly refusal?: DomainError | undefined
}

/** Inputs that pay for a Bitcoin transaction; amounts in satoshis. */
export type Funding =
  /** `change` is 0 if there is no change output: the rest then is part of the fee. */
  | {
      readonly kind: 'chosen'
      readonly inputs: readonly SpendableOutput[]
      readonly fee: bigint
      readonly change: bigint
    }
  /** All outputs together do not cover amount and fee. `isOfTooMany`: the limit on inputs kept some of them out. */
  | {
      readonly kind: 'short'
      readonly spendable: bigint
      readonly needed: bigint
      readonly isOfTooMany: boolean
    }
  /** The user's outputs were not read in time, or there is no user yet. */
  | { readonly kind: 'unknown' }

/** A confirmed output that one account can spend. */
export type SpendableOutput = {
  /** Display order, 64 lower-case hex digits. */
  readonly txid: string
  readonly vout: number
  /** Smallest units. */
  readonly value: bigint
  readonly script: Hex
  /** Transaction that made the output, without witnesses; present if a signer needs it. */
  readonly transaction?: Hex
}

/** State of a user's accounts, for planning; members are undefined if they were not read in time. */
export type KnownState = {
  /** Current allowance for the contract that takes the input. */
  readonly allowance: bigint | undefined
  /** Part of the allowance that other open quotes of the user may still use; absent: 0. */
  readonly openSpending?: bigint | undefined
  /** User's balance of the input. */
  readonly balance?: bigint | undefined
  /** Balance of one of the holdings that `touched` named. */
  readonly heldBy?: (holding: Holding) => bigint | undefined
  /** State that the recipient lacks, if the user pays him directly. */
  readonly recipientLack?: AccountLack | undefined
  /** Outputs that the user can spend, on Bitcoin. */
  readonly spendable?: readonly SpendableOutput[] | undefined
  /** Native coin of the account that pays network fees: the user, or `depositFeePayer`. */
  readonly feeFunds?: FeeFunds | undefined
  /** Network fees, on Bitcoin, where they decide which outputs are spent. */
  readonly fees?: NetworkFees | undefined
}

/** An account and a currency of one chain, in canonical spelling. */
export type Holding = { readonly account: string; readonly currency: string }
