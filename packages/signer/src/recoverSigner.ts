import { bytesToHex, type Hex, hexToBytes, keccak256 } from '@causeway/core'
import secp256k1 from 'secp256k1'

const signatureForm = /^0x[0-9a-fA-F]{130}$/
/** Half the order of the curve: a larger s is the mirror image of a valid signature. */
const halfOrder = hexToBytes('0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0')

/**
 * Lower-case address of the key that signed `digest`; `undefined` for anything but the one canonical
 * form of a signature: 65 bytes r‖s‖v, low s, v 27 or 28. Accepting others would let one signer
 * count twice.
 */
export function recoverSigner(digest: Uint8Array, signature: string): Hex | undefined {
  // CAST: the pattern just matched is what the type says.
  const bytes = signatureForm.test(signature) ? hexToBytes(signature as Hex) : undefined
  const recoveryId = bytes === undefined ? undefined : (bytes[64] ?? 0) - 27
  if (bytes === undefined || (recoveryId !== 0 && recoveryId !== 1)) return undefined
  if (Buffer.compare(bytes.subarray(32, 64), halfOrder) > 0) return undefined
  const publicKey = recoverPublicKey(digest, bytes.subarray(0, 64), recoveryId)
  return publicKey === undefined ? undefined : addressOf(publicKey)
}

/** The uncompressed public key, `undefined` when no key can have made the signature. */
export function recoverPublicKey(
  digest: Uint8Array,
  compactSignature: Uint8Array,
  recoveryId: number,
): Uint8Array | undefined {
  if (digest.length !== 32) throw new RangeError('a digest has 32 bytes')
  try {
    return secp256k1.ecdsaRecover(compactSignature, recoveryId, digest, false)
  } catch (error) {
    // Any error here means that no key made it: lengths, the only other failures, were checked before.
    if (error instanceof Error) return undefined
    throw error
  }
}

/** Lower-case address of an uncompressed public key (65 bytes). */
export function addressOf(publicKey: Uint8Array): Hex {
  return bytesToHex(keccak256(publicKey.subarray(1)).subarray(12))
}
