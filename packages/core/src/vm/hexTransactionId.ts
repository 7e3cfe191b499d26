import { parseHexDigits } from '../hashing/hexBytes.ts'
import type { ParsedTransactionId, Refusal } from './createVmCodec.ts'

const hashDigits = 64

/** `0x` and 64 hex digits; canonical is lower case. */
export function parsePrefixedHash(transactionId: string): ParsedTransactionId | Refusal {
  if (transactionId.length !== 2 + hashDigits || !transactionId.startsWith('0x')) {
    return { refusal: 'expected 0x and 64 hex digits' }
  }
  const bytes = parseHexDigits(transactionId, 2)
  if (bytes === undefined) return { refusal: 'expected 0x and 64 hex digits' }
  return { bytes, canonical: transactionId.toLowerCase() }
}

/** 64 hex digits without `0x`; canonical is lower case. */
export function parseBareHash(transactionId: string): ParsedTransactionId | Refusal {
  const bytes = transactionId.length === hashDigits ? parseHexDigits(transactionId, 0) : undefined
  if (bytes === undefined) return { refusal: 'expected 64 hex digits without 0x' }
  return { bytes, canonical: transactionId.toLowerCase() }
}
