import { type Hex, UpstreamUnavailableError } from '@causeway/core'
import { recoverSigner } from '@causeway/signer'
import type { ContractSignatures } from './contractSignature.ts'
import { personalMessageDigest } from './linkMessage.ts'

/**
 * True if the wallet signed the message. The signer is recovered without a call; if it is not the wallet, the wallet
 * is asked as a contract.
 * @param contracts absent while the chain has no endpoint
 * @throws the errors of `ContractSignatures`
 * @source rule L-89
 */
export async function hasSigned(
  args: { readonly message: string | Uint8Array; readonly wallet: Hex; readonly signature: Hex },
  contracts: ContractSignatures | undefined,
): Promise<boolean> {
  return hasSignedDigest({ ...args, digest: personalMessageDigest(args.message) }, contracts)
}

/** Like `hasSigned`, for a 32-byte digest. */
export async function hasSignedDigest(
  args: { readonly digest: Uint8Array; readonly wallet: Hex; readonly signature: Hex },
  contracts: ContractSignatures | undefined,
): Promise<boolean> {
  const { digest, wallet, signature } = args
  if (recoverSigner(digest, withUsualRecoveryByte(signature)) === wallet) return true
  if (contracts === undefined) {
    throw new UpstreamUnavailableError('The chain of contract wallets cannot be read.')
  }
  return contracts.isValid({ wallet, digest, signature })
}

/** Some wallets end a signature with 0 or 1 where most write 27 or 28. */
export function withUsualRecoveryByte(signature: Hex): Hex {
  const match = /^0x([0-9a-fA-F]{128})0([01])$/.exec(signature)
  return match === null ? signature : `0x${match[1]}${match[2] === '0' ? '1b' : '1c'}`
}
