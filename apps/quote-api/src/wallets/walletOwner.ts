import { type Hex, UpstreamUnavailableError } from '@causeway/core'
import { recoverSigner } from '@causeway/signer'
import type { ContractSignatures } from './contractSignature.ts'
import { personalMessageDigest } from './linkMessage.ts'

/**
 * Whether the wallet signed the message: as a key, found without a call, else as a contract.
 * @param contracts absent while the chain has no endpoint
 * @throws what `ContractSignatures` throws
 * @source ledger-and-safety.md 2.3, 5
 */
export async function hasSigned(
  args: { readonly message: string | Uint8Array; readonly wallet: Hex; readonly signature: Hex },
  contracts: ContractSignatures | undefined,
): Promise<boolean> {
  const { wallet, signature } = args
  const digest = personalMessageDigest(args.message)
  if (recoverSigner(digest, withUsualRecoveryByte(signature)) === wallet) return true
  if (contracts === undefined) {
    throw new UpstreamUnavailableError('The chain of contract wallets cannot be read.')
  }
  return contracts.isValid({ wallet, digest, signature })
}

/** Some wallets end a signature with 0 or 1 where most write 27 or 28. */
function withUsualRecoveryByte(signature: Hex): string {
  const match = /^(0x[0-9a-fA-F]{128})0([01])$/.exec(signature)
  return match === null ? signature : `${match[1]}${match[2] === '0' ? '1b' : '1c'}`
}
