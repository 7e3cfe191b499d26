import { personalMessageDigest } from '@causeway/core'
import { ethereumCodec } from '@causeway/core/encodings'
import type { Family, OwnerSigned } from '../../rules/family.ts'
import type { NormalisedWithdrawRequest, PlainWithdrawRequest } from '../../rules/withdrawRequestParts.ts'
import { evmAllocatorPayload } from './allocatorPayload.ts'
import { ethereumQuoting } from './quoting/ethereumQuoting.ts'

/** Pure rules of EVM chains: the family's line in `registry/families.ts`. See `Family` for the members. */
export const ethereumFamily = {
  name: 'EVM',
  publicName: 'evm',
  withdrawRequest: normaliseEvmRequest,
  allocatorPayload: evmAllocatorPayload,
  /** @source rule P-80 */
  isSignedByOwner: (signed) =>
    isSignedByAccount(signed) ||
    signed.isAcceptedByCode(signed.owner, personalMessageDigest(signed.requestHash)),
  hexAddress: (address) => `0x${ethereumCodec.canonicalAddress(address).slice(2)}`,
  payerSettings: ['fillContracts', 'fillPayers'],
  depositoryMembers: [],
  // go-ethereum documentation, "Real-time events"
  headSubscription: { method: 'eth_subscribe', params: ['newHeads'], notification: 'eth_subscription' },
  takesDepositFeePayer: false,
  quoting: ethereumQuoting,
} satisfies Family

/** True for an EIP-191 signature by the owner's own key; owners may also be contracts, see P-80. */
export function isSignedByAccount({ owner, requestHash, signature, recoverSigner }: OwnerSigned): boolean {
  return recoverSigner(personalMessageDigest(requestHash), signature) === owner.toLowerCase()
}

/**
 * A withdraw request with all addresses in lower case, and no data, since the family has no additional data.
 * @throws InvalidAddressError
 * @source github.com/relayprotocol/relay-settlement, normalizePayloadParams
 */
function normaliseEvmRequest(request: PlainWithdrawRequest): NormalisedWithdrawRequest {
  return {
    depository: ethereumCodec.canonicalAddress(request.depository),
    currency: ethereumCodec.canonicalAddress(request.currency),
    recipient: ethereumCodec.canonicalAddress(request.recipient),
    data: '0x',
  }
}
