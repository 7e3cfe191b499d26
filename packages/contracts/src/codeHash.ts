import { type Hex, hexToBytes, keccak256Hex } from '@causeway/core'
import type { CodeSpan } from './compile.ts'

/**
 * Keccak-256 of a contract's code with its immutables as zeros: the same wherever and for whatever parties it
 * was deployed. @throws RangeError when `code` is no hex
 */
export function codeHashOf(code: Hex, immutables: readonly CodeSpan[]): Hex {
  const bytes = hexToBytes(code)
  for (const { start, length } of immutables) bytes.fill(0, start, start + length)
  return keccak256Hex(bytes)
}
