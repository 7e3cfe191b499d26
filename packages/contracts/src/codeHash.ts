import { type Hex, hexToBytes, keccak256Hex } from '@causeway/core'
import type { CodeSpan } from './compile.ts'

/**
 * Keccak-256 of a contract's deployed code with its immutables set to zero. So the hash depends neither on the chain nor
 * on constructor arguments, and a service can recognize the contract.
 * @throws RangeError when `code` is not hex
 */
export function codeHashOf(code: Hex, immutables: readonly CodeSpan[]): Hex {
  const bytes = hexToBytes(code)
  for (const { start, length } of immutables) bytes.fill(0, start, start + length)
  return keccak256Hex(bytes)
}
