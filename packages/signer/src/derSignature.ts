import { secp256k1 } from '@noble/curves/secp256k1.js'
import { SignerFailedError } from './errors.ts'

/**
 * The two integers of a DER `SEQUENCE { INTEGER r, INTEGER s }`, as r‖s of 64 bytes with s brought to the lower half.
 * The library is strict: one encoding per signature, nothing after it, both numbers within the order.
 * @throws SignerFailedError for anything else
 */
export function compactFromDer(der: Uint8Array): Uint8Array {
  try {
    return secp256k1.Signature.fromDER(der).normalizeS().toCompactRawBytes()
  } catch (cause) {
    throw new SignerFailedError({ cause })
  }
}
