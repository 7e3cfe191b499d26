import { tronEvmAddress, tronHexAddress } from '@causeway/core/encodings'
import { evmAllocatorPayload } from '../../ethereum/rules/allocatorPayload.ts'
import type { Family } from '../../rules/family.ts'
import type { NormalisedWithdrawRequest, PlainWithdrawRequest } from '../../rules/withdrawRequestParts.ts'
import { tronMessageDigest } from './ownerSignature.ts'
import { tronQuoting } from './quoting/tronQuoting.ts'

/** Tron's entry in `families`: its rules, none of which opens a connection. */
export const tronFamily = {
  name: 'Tron',
  publicName: 'tvm',
  withdrawRequest: normaliseTronRequest,
  allocatorPayload: evmAllocatorPayload,
  isSignedByOwner: ({ owner, requestHash, signature, recoverSigner }) =>
    recoverSigner(tronMessageDigest(requestHash), signature) === tronEvmAddress(owner),
  hexAddress: tronHexAddress,
  // Settings of the chains file that list payers. Depositories of the allocator file need no further member.
  payerSettings: ['fillContracts', 'fillPayers'],
  depositoryMembers: [],
  // The sender of a deposit pays its network fee himself.
  takesDepositFeePayer: false,
  quoting: tronQuoting,
} satisfies Family

/**
 * Accounts as `0x` and 20 bytes, zero for TRX.
 * @throws InvalidAddressError
 * @source github.com/relayprotocol/relay-settlement, normalizePayloadParams
 */
function normaliseTronRequest(request: PlainWithdrawRequest): NormalisedWithdrawRequest {
  return {
    depository: tronEvmAddress(request.depository),
    currency: tronEvmAddress(request.currency),
    recipient: tronEvmAddress(request.recipient),
    data: '0x',
  }
}
