import type { Hex } from '@causeway/core'

/** The depository in the spellings of orders and of logs. */
export type TronContract = {
  /** Base58. */
  readonly address: string
  /** `0x` and 20 bytes: the address without its prefix byte. */
  readonly account: Hex
}
