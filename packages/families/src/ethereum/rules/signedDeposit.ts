import type { Hex } from '@causeway/core'

/** A deposit that the owner of a token signs and somebody else submits. Amount in smallest units. */
export type SignedDeposit = {
  readonly token: Hex
  readonly owner: Hex
  readonly amount: bigint
  /** Unix seconds: the signature is worth nothing from then on. */
  readonly deadlineSeconds: number
  readonly orderId: Hex
}
