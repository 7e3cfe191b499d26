import { concatBytes, hexDigits, keccak256, utf8Bytes } from '@causeway/core'

const messagePrefix = utf8Bytes('\x19TRON Signed Message:\n64')

/**
 * Digest that a Tron wallet signs for the 64 hex digits of a hash as text.
 * @source tronweb, signMessageV2
 */
export function tronMessageDigest(hash: Uint8Array): Uint8Array {
  return keccak256(concatBytes([messagePrefix, utf8Bytes(hexDigits(hash))]))
}
