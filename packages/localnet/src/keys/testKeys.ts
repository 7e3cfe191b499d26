import type { Hex } from '@causeway/core'

/** Valid private keys that are the same in every run: for tests of rules, never for a chain. */
export function countingKeys(): () => Hex {
  let last = 0xc0ffee
  return () => {
    last += 1
    return `0x${last.toString(16).padStart(64, '0')}`
  }
}
