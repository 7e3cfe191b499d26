import type { Secret, Signer } from '@causeway/core'
import { signingDigest } from '@causeway/families/rules'
import secp256k1 from 'secp256k1'
import { finishSignature } from './finishSignature.ts'
import { privateKeyBytes } from './privateKey.ts'
import { addressOf } from './recoverSigner.ts'

/**
 * A signer over a key in this process, on libsecp256k1. Deterministic (RFC 6979), low s, v 27 or 28;
 * every signature is recovered and compared with the key before it is returned.
 * @param options.privateKey from `parsePrivateKey`
 */
export function createRawKeySigner(options: { privateKey: Secret }): Signer {
  const key = privateKeyBytes(options.privateKey)
  const publicKey = secp256k1.publicKeyCreate(key, false)
  return {
    address: addressOf(publicKey),
    async sign(request, { signal } = {}) {
      signal?.throwIfAborted()
      const digest = signingDigest(request)
      const { signature, recid } = secp256k1.ecdsaSign(digest, key)
      return finishSignature({ digest, compact: signature, recoveryId: recid, publicKey })
    },
  }
}
