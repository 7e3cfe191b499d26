import type { Hex } from '@causeway/core'

/** The hex form of a Tron address: the prefix 41 and the 20 bytes of the EVM's address. */
export function tronHex(bytes: Hex): string {
  return `41${bytes.slice(2).toLowerCase()}`
}
