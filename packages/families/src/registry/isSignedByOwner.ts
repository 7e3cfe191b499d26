import { type OwnerRequest, ownerRequestHash } from '@causeway/core'
import type { ChainNetwork } from '@causeway/core/encodings'
import type { OwnerSigned } from '../rules/family.ts'
import { families } from './families.ts'

/** An owner's request, its signature, and the means to verify it in any family. */
export type OwnerCheck = Pick<
  OwnerSigned,
  'signature' | 'recoverSigner' | 'readOwnerKey' | 'isAcceptedByCode'
> & {
  readonly request: OwnerRequest
  /** The family and, where it has several, the network of the request's `ownerChainId`. */
  readonly ownerChain: ChainNetwork
}

/**
 * True if the owner signed the request as his family's wallets sign.
 * @throws InvalidAddressError if the owner is no address of its family; whatever `readOwnerKey` or
 * `isAcceptedByCode` throws
 * @source rules P-80, P-83
 */
export async function isSignedByOwner(check: OwnerCheck): Promise<boolean> {
  const { request, ownerChain, ...signed } = check
  return families[ownerChain.vmType].isSignedByOwner({
    owner: request.owner,
    network: ownerChain.network,
    requestHash: ownerRequestHash(request),
    ...signed,
  })
}
