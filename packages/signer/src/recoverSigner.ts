import { bytesToHex, type Hex, hexToBytes, keccak256 } from '@causeway/core'
import secp256k1 from 'secp256k1'

/** Half the order of the curve: a signature with a larger s has a twin that is as valid. */
const halfOrder = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n

/**
 * Lower-case address whose key signed `digest`; undefined for anything but 65 bytes r‖s‖v with low s
 * and v 27 or 28. Never throws for a bad signature. @param digest 32 bytes
 */
export function recoverSigner(digest: Uint8Array, signature: Hex): Hex | undefined {
  if (!/^0x[0-9a-fA-F]{130}$/.test(signature)) return undefined
  const bytes = hexToBytes(signature)
  const recoveryId = (bytes[64] ?? 0) - 27
  if (recoveryId !== 0 && recoveryId !== 1) return undefined
  if (BigInt(`0x${signature.slice(66, 130)}`) > halfOrder) return undefined
  return recoverAddress(digest, bytes.subarray(0, 64), recoveryId)
}

/** @param compact r‖s @param recoveryId 0 or 1 */
export function recoverAddress(digest: Uint8Array, compact: Uint8Array, recoveryId: number): Hex | undefined {
  try {
    return addressOf(secp256k1.ecdsaRecover(compact, recoveryId, digest, false))
  } catch {
    // The bindings throw for numbers that are no signature: r or s of zero, or beyond the order.
    return undefined
  }
}

/** @param publicKey 65 bytes, uncompressed */
export function addressOf(publicKey: Uint8Array): Hex {
  return bytesToHex(keccak256(publicKey.subarray(1)).subarray(12))
}
