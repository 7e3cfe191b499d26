import { bytesToHex, type Hex } from '@causeway/core'
import { SignerFailedError } from './errors.ts'
import { recoverPublicKey } from './recoverSigner.ts'

/**
 * The form r‖s‖v of a new signature, as signers return it. It first proves that the key made the signature, so that
 * no faulty one, from the curve's code or a remote key holder, leaves the process.
 * @param options.recoveryId 0 or 1
 * @throws SignerFailedError when another key, or none, made it
 */
export function finishSignature(options: {
  digest: Uint8Array
  /** r‖s with low s, 64 bytes. */
  compact: Uint8Array
  recoveryId: number
  /** Uncompressed, 65 bytes. */
  publicKey: Uint8Array
}): Hex {
  const { digest, compact, recoveryId, publicKey } = options
  const recovered = recoverPublicKey(digest, compact, recoveryId)
  if (recovered === undefined || Buffer.compare(recovered, publicKey) !== 0) throw new SignerFailedError()
  const bytes = new Uint8Array(65)
  bytes.set(compact)
  bytes[64] = 27 + recoveryId
  return bytesToHex(bytes)
}
