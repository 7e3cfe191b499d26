import { utf8Bytes } from '@causeway/core'
import { solanaCodec } from '@causeway/core/encodings'
import { ed25519 } from '@noble/curves/ed25519.js'

const signatureBytes = 64

/**
 * True when `owner` made an Ed25519 signature of the UTF-8 of `message`. Keys of small order, which every
 * signature fits, sign nothing.
 * @throws InvalidAddressError when the owner is no account
 * @source rule P-110; RFC 8032
 */
export function isSolanaOwnerSignature(args: {
  readonly message: string
  readonly signature: Uint8Array
  readonly owner: string
}): boolean {
  const publicKey = solanaCodec.encodeAddress(args.owner)
  if (args.signature.length !== signatureBytes) return false
  return ed25519.verify(args.signature, utf8Bytes(args.message), publicKey, { zip215: false })
}
