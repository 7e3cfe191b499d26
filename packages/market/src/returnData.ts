import type { Hex } from '@causeway/core'

// Decodes return data of contract calls, strictly: bytes of another shape give undefined.

/** Hex digits of a 32-byte word. */
const wordDigits = 64

/** Number of whole 32-byte words, `undefined` when the bytes are not made of them. */
export function wordCount(data: Hex): number | undefined {
  const words = (data.length - 2) / wordDigits
  return Number.isInteger(words) ? words : undefined
}

/** The unsigned integer in one word. @throws SyntaxError past the end, so check `wordCount` first */
export function wordAt(data: Hex, index: number): bigint {
  const start = 2 + index * wordDigits
  return BigInt(`0x${data.slice(start, start + wordDigits)}`)
}

/** One returned `uint256`; `undefined` for bytes of another shape. */
export function decodeUint(data: Hex): bigint | undefined {
  return wordCount(data) === 1 ? wordAt(data, 0) : undefined
}

/** One returned `string` of at most 256 bytes, at the offset 32; `undefined` for bytes of another shape. */
export function decodeText(data: Hex): string | undefined {
  if ((wordCount(data) ?? 0) < 2 || wordAt(data, 0) !== 32n) return undefined
  const length = wordAt(data, 1)
  if (length > 256n) return undefined
  const start = 2 + 2 * wordDigits
  const digits = data.slice(start, start + 2 * Number(length))
  return digits.length === 2 * Number(length) ? Buffer.from(digits, 'hex').toString('utf8') : undefined
}
