import { hexDigits, parseHexDigits } from '../hashing/hexBytes.ts'
import type { Hex } from '../hex.ts'
import { bitcoinNetworkOf } from '../vm/bitcoin/codec.ts'
import type { ChainNetwork } from '../vm/registry.ts'
import { tronEvmAddress } from '../vm/tron/address.ts'
import { tronMessageDigest } from '../vm/tron/ownerSignature.ts'
import { type OwnerRequest, ownerRequestDigest, ownerRequestHash } from './ownerRequest.ts'
import type { RecoverSigner } from './signer.ts'

export type OwnerCheck = {
  readonly request: OwnerRequest
  /** Hex. */
  readonly signature: Hex
  /** The family and, for Bitcoin, the network of the request's `ownerChainId`. */
  readonly ownerChain: ChainNetwork
  readonly recoverSigner: RecoverSigner
  /** EVM address that signs for an account of a family whose accounts are no keys (Lighter). */
  readonly readOwnerKey: (account: string) => Promise<Hex>
}

/**
 * True when the owner signed the request in the way of its family. The curves of Solana and Bitcoin are
 * loaded when the first of their owners signs.
 * @throws InvalidAddressError when the owner is no address of its family; whatever `readOwnerKey` throws
 * @source oracle-protocol.md 3.6
 */
export async function isSignedByOwner(check: OwnerCheck): Promise<boolean> {
  const { request, signature, ownerChain, recoverSigner } = check
  const { owner } = request
  switch (ownerChain.vmType) {
    case 'ethereum-vm':
    case 'hyperliquid-vm':
      return recoverSigner(ownerRequestDigest(request), signature) === owner.toLowerCase()
    case 'tron-vm': {
      const signer = recoverSigner(tronMessageDigest(ownerRequestHash(request)), signature)
      return signer === tronEvmAddress(owner)
    }
    case 'lighter-vm': {
      const signer = recoverSigner(ownerRequestDigest(request), signature)
      return signer !== undefined && signer === (await check.readOwnerKey(owner)).toLowerCase()
    }
    case 'solana-vm': {
      const { isSolanaOwnerSignature } = await import('../vm/solana/ownerSignature.ts')
      return isSolanaOwnerSignature({ ...signedText(check), owner })
    }
    case 'bitcoin-vm': {
      const { isBitcoinOwnerSignature } = await import('../vm/bitcoin/ownerSignature.ts')
      const network = bitcoinNetworkOf(ownerChain.network)
      return isBitcoinOwnerSignature({ ...signedText(check), owner, network })
    }
  }
}

/** Wallets that sign text sign the digits of the request's hash. */
function signedText({ request, signature }: OwnerCheck): { message: string; signature: Uint8Array } {
  return {
    message: hexDigits(ownerRequestHash(request)),
    signature: parseHexDigits(signature, 2) ?? new Uint8Array(),
  }
}
