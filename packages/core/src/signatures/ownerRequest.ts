import { canonicalJson } from '../hashing/canonicalJson.ts'
import { utf8Bytes } from '../hashing/hexBytes.ts'
import { sha256 } from '../hashing/sha256.ts'
import { personalMessageDigest } from '../hashing/typedData.ts'

/** Withdrawal request that the owner of a hub balance signs. His signature does not cover the depository. */
export type OwnerRequest = {
  readonly chainId: string
  readonly currency: string
  /** Decimal. */
  readonly amount: string
  readonly ownerChainId: string
  readonly owner: string
  readonly recipient: string
  readonly nonce: string
  readonly additionalData?: Readonly<Record<string, unknown>> | undefined
}

/**
 * The 32 bytes that an owner on an ethereum-vm or hyperliquid-vm chain signs: EIP-191 over the SHA-256
 * of the request as canonical JSON, every member as the caller spelled it.
 * @source rule P-80
 */
export function ownerRequestDigest(request: OwnerRequest): Uint8Array {
  return personalMessageDigest(ownerRequestHash(request))
}

/** SHA-256 of the request, which owners of other families sign in their own ways. */
export function ownerRequestHash(request: OwnerRequest): Uint8Array {
  const { chainId, currency, amount, ownerChainId, owner, recipient, nonce, additionalData } = request
  const signed = {
    operation: 'withdrawal',
    chainId,
    currency,
    amount,
    ownerChainId,
    owner,
    recipient,
    nonce,
    additionalData,
  }
  return sha256(utf8Bytes(canonicalJson(signed)))
}
