import type { Hex } from '@causeway/core'

/** One answered quote as it is kept. JSON members are text already, so that they stay as hashed. */
export type StoredOrder = {
  readonly requestId: Hex
  readonly orderId: Hex | undefined
  readonly user: string
  readonly recipient: string
  readonly originChainId: number
  readonly destinationChainId: number
  readonly apiKeyId: string | undefined
  /** JSON text of the quoted currencies and amounts. */
  readonly quoted: string
  /** JSON text of the protocol order. */
  readonly orderData: string | undefined
  readonly orderSignature: Hex | undefined
  readonly stepsDigest: Buffer
  /** JSON text of an `Execution`; absent where the user sends a deposit. */
  readonly execution: string | undefined
  readonly expiresAtSeconds: number
  readonly deadlineSeconds: number
}
