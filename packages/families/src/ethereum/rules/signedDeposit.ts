import type { Hex } from '@causeway/core'

/** A deposit that the owner of a token signs and somebody else submits. Amount in smallest units. */
export type SignedDeposit = {
  readonly token: Hex
  readonly owner: Hex
  readonly amount: bigint
  /** Unix seconds from which the signature is no longer valid. */
  readonly deadlineSeconds: number
  readonly orderId: Hex
}
