import { base58 } from '@scure/base'
import { concatBytes } from './hexBytes.ts'
import { sha256 } from './sha256.ts'

const base58Pattern = /^[1-9A-HJ-NP-Za-km-z]+$/
const checksumBytes = 4

/**
 * Bytes of a base58 string that holds exactly `byteLength` of them, else `undefined`. The length is
 * bounded before decoding, because decoding takes time quadratic in it.
 */
export function decodeBase58(text: string, byteLength: number): Uint8Array | undefined {
  // One base58 digit carries log2(58) = 5.858 bits; a leading `1` carries a whole zero byte.
  const lengthMax = Math.ceil((byteLength * 8) / Math.log2(58))
  if (text.length < byteLength || text.length > lengthMax || !base58Pattern.test(text)) return undefined
  const bytes = base58.decode(text)
  return bytes.length === byteLength ? bytes : undefined
}

/** Bytes of a base58 string of any length, else `undefined`. Bound the length: time is quadratic in it. */
export function decodeBase58Text(text: string): Uint8Array | undefined {
  if (text === '') return new Uint8Array()
  return base58Pattern.test(text) ? base58.decode(text) : undefined
}

/** Payload of a base58check string, without its checksum; `undefined` when length or checksum is wrong. */
export function decodeBase58Check(text: string, payloadLength: number): Uint8Array | undefined {
  const bytes = decodeBase58(text, payloadLength + checksumBytes)
  if (bytes === undefined) return undefined
  const payload = bytes.subarray(0, payloadLength)
  const checksum = sha256(sha256(payload))
  const matches = bytes.subarray(payloadLength).every((byte, index) => byte === checksum[index])
  return matches ? payload : undefined
}

/** Base58 of `bytes`; a leading zero byte becomes a leading `1`. */
export function encodeBase58(bytes: Uint8Array): string {
  return base58.encode(bytes)
}

/** Base58 of the payload and its checksum. */
export function encodeBase58Check(payload: Uint8Array): string {
  return base58.encode(concatBytes([payload, sha256(sha256(payload)).subarray(0, checksumBytes)]))
}
