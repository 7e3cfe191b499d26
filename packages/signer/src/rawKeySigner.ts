import { bytesToHex, type Hex, hexToBytes, type Secret, type Signer, signingDigest } from '@causeway/core'
import secp256k1 from 'secp256k1'
import { parsePrivateKey } from './privateKey.ts'
import { addressOf, recoverAddress } from './recoverSigner.ts'
import { SignerFailedError } from './signerFailedError.ts'

/**
 * A signer that holds its key in memory. Deterministic (RFC 6979), low s; every signature is recovered
 * and compared before it leaves. @throws ConfigurationError on a key that is not usable
 */
export function createRawKeySigner({ privateKey }: { privateKey: Secret }): Signer {
  // CAST: `parsePrivateKey` returns `0x` and 64 hex digits.
  const key = hexToBytes(parsePrivateKey(privateKey).reveal() as Hex)
  const address = addressOf(secp256k1.publicKeyCreate(key, false))
  return {
    address,
    async sign(request) {
      const digest = signingDigest(request)
      const { signature, recid } = secp256k1.ecdsaSign(digest, key)
      if (recoverAddress(digest, signature, recid) !== address) {
        throw new SignerFailedError('the signature does not recover to the key')
      }
      return `${bytesToHex(signature)}${(27 + recid).toString(16)}` as Hex
    },
  }
}
