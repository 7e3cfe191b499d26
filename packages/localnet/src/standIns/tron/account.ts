import type { Hex } from '@causeway/core'

/** 21 bytes in hex. */
export function account(bytes: Hex): string {
  return `41${bytes.slice(2).toLowerCase()}`
}
