import { type Hex, tronEvmAddress } from '@causeway/core'

/** A contract in both spellings. */
export type TronContract = {
  /** Base58. */
  readonly address: string
  /** The 20 bytes behind the prefix. */
  readonly account: Hex
}

/** The 20 bytes behind the prefix. @throws InvalidAddressError */
export function accountOf(address: string): Hex {
  return `0x${tronEvmAddress(address).slice(2)}`
}
