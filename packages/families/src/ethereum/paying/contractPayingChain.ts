import type { Hex } from '@causeway/core'
import type { Fees } from '../rules/paying/fees.ts'

/** A transaction before it has a nonce. */
export type PlannedTransaction = {
  readonly to: Hex
  readonly data: Hex
  readonly valueWei: bigint
  /** EIP-7702; none: a plain transaction. */
  readonly authorizationList?: readonly Authorization[] | undefined
}

/** Signed permission of an account to run the code of `address`. @source EIP-7702 */
export type Authorization = {
  readonly chainId: number
  readonly address: Hex
  readonly nonce: number
  readonly yParity: number
  readonly r: Hex
  readonly s: Hex
}

/** A signed transaction of one nonce. `Fees` are those that a replacement has to exceed. */
export type SignedTransaction = Fees & {
  readonly raw: Hex
  readonly hash: string
  /** Milliseconds since the epoch. */
  readonly signedAtMs: number
}

export type Mined = {
  readonly hash: Hex
  readonly succeeded: boolean
  readonly isFinal: boolean
  /** Gas used at the price paid. */
  readonly costWei: bigint
}
