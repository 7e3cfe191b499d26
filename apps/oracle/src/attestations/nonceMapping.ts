import type { NonceMappingResponse } from '@causeway/attestations'
import { nonceMappingDigest, nonceMappingEntry, type ProtocolChain } from '@causeway/core'
import type { NonceMappingRequest } from '../wire/requests.ts'
import { type Attest, type AttestationContext, chainOf } from './context.ts'
import { AttestationError } from './errors.ts'
import { mappingNotConfigured } from './recovery.ts'

/**
 * POST /attestations/signatures/nonce-mapping/v2: signs which order a wallet's transfer with a nonce pays, as an
 * entry of the hub's generic mapping. The wallet must have signed the same. The hub keeps the first entry of a nonce.
 * @source rule F-153
 */
export const attestNonceMapping: Attest<NonceMappingRequest, NonceMappingResponse> = async (
  request,
  context,
) => {
  if (context.hub.mappingDomain === undefined) throw mappingNotConfigured()
  const { walletChainId, wallet, depositor, id, signatureChainId, signature } = request
  const mapping = { walletChainId, wallet, depositor, id, nonce: BigInt(request.nonce) }
  const network = walletNetwork(walletChainId, context)
  const digest = nonceMappingDigest(mapping, evmChainId(signatureChainId, context))
  if (context.recoverSigner(digest, signature) !== wallet)
    throw new AttestationError('INVALID_WALLET_SIGNATURE', 'The wallet did not sign this mapping.')
  return {
    unsigned: { genericMapping: { ...nonceMappingEntry(mapping, network), signatures: [] } },
    evidence: [],
    // Not cached: it needed no reading of a chain, and cached answers should be those that did.
    isFinal: false,
  }
}

/** Network of the wallet's chain. @throws AttestationError for a family whose transfers name their orders themselves */
function walletNetwork(
  walletChainId: string,
  context: Pick<AttestationContext, 'chains'>,
): Pick<ProtocolChain, 'vmType' | 'network'> {
  const { vmType, network } = chainOf(context, walletChainId)
  if (vmType === 'hyperliquid-vm') return { vmType, network }
  throw new AttestationError(
    'WALLET_CHAIN_NOT_SUPPORTED',
    'Transfers of this chain name their orders themselves.',
    { data: { walletChainId } },
  )
}

/** Number of the EVM chain for which the wallet signed. @throws AttestationError for a chain of another family */
function evmChainId(signatureChainId: string, context: Pick<AttestationContext, 'chains'>): number {
  const { vmType, hubChainId } = chainOf(context, signatureChainId)
  const number = Number(hubChainId)
  if (vmType === 'ethereum-vm' && Number.isSafeInteger(number)) return number
  throw new AttestationError('SIGNATURE_CHAIN_NOT_SUPPORTED', 'Wallets sign on EVM chains.', {
    data: { signatureChainId },
  })
}
