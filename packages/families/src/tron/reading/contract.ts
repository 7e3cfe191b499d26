import type { Hex } from '@causeway/core'

/** A contract in both spellings. */
export type TronContract = {
  /** Base58. */
  readonly address: string
  /** The 20 bytes behind the prefix. */
  readonly account: Hex
}
