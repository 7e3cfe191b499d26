import type { Hex } from '../hex.ts'
import { type ChainNetwork, families } from '../vm/families.ts'
import { type OwnerRequest, ownerRequestHash } from './ownerRequest.ts'
import type { RecoverSigner } from './signer.ts'

export type OwnerCheck = {
  readonly request: OwnerRequest
  /** Hex. */
  readonly signature: Hex
  /** The family and, where it has several, the network of the request's `ownerChainId`. */
  readonly ownerChain: ChainNetwork
  readonly recoverSigner: RecoverSigner
  /** EVM address that signs for an account of a family whose accounts are no keys. */
  readonly readOwnerKey: (account: string) => Promise<Hex>
}

/**
 * True when the owner signed the request in the way of its family.
 * @throws InvalidAddressError when the owner is no address of its family; whatever `readOwnerKey` throws
 * @source oracle-protocol.md 3.6
 */
export async function isSignedByOwner(check: OwnerCheck): Promise<boolean> {
  const { request, ownerChain, signature, recoverSigner, readOwnerKey } = check
  return families[ownerChain.vmType].isSignedByOwner({
    owner: request.owner,
    network: ownerChain.network,
    requestHash: ownerRequestHash(request),
    signature,
    recoverSigner,
    readOwnerKey,
  })
}
