import { hexDigits } from '@causeway/core'
import { solanaCodec } from '@causeway/core/encodings'
import { type AllocatorPayloadFamily, firstDifference } from '../../rules/allocatorPayloadFamily.ts'
import { type Family, signedText } from '../../rules/family.ts'
import type { NormalisedWithdrawRequest, PlainWithdrawRequest } from '../../rules/withdrawRequestParts.ts'
import { solanaQuoting } from './quoting/solanaQuoting.ts'
import { decodeSolanaWithdrawal, solanaWithdrawalId } from './withdrawal.ts'

/**
 * Payload and withdrawal are the same transfer request, whose SHA-256 is signed.
 * @source SolanaPayloadBuilder.sol
 */
const solanaAllocatorPayload: AllocatorPayloadFamily = {
  additionalData: () => undefined,
  hashes: (payload) => [solanaWithdrawalId(decodeSolanaWithdrawal(payload))],
  toWithdrawal: (payload) => payload,
  difference: (withdrawal, payload) =>
    firstDifference(decodeSolanaWithdrawal(withdrawal), decodeSolanaWithdrawal(payload)),
}

/** Solana's entry in `families`: its rules, none of which opens a connection. */
export const solanaFamily = {
  name: 'Solana',
  publicName: 'svm',
  withdrawRequest: normaliseSolanaRequest,
  allocatorPayload: solanaAllocatorPayload,
  /** Ed25519. The curve library is loaded only when a Solana owner signs. */
  async isSignedByOwner(signed) {
    const { isSolanaOwnerSignature } = await import('./ownerSignature.ts')
    return isSolanaOwnerSignature({ ...signedText(signed), owner: signed.owner })
  },
  // The setting of the chains file that lists payers, and the members that the allocator file's depositories
  // must have.
  payerSettings: ['fillPayers'],
  depositoryMembers: ['domain', 'vault'],
  // Subscription to new slots. See Solana documentation, "RPC websocket methods".
  headSubscription: { method: 'slotSubscribe', params: [], notification: 'slotNotification' },
  // Another account than the sender may pay the network fee of a deposit.
  takesDepositFeePayer: true,
  quoting: solanaQuoting,
} satisfies Family

/**
 * A withdraw request in the form that is signed: currency and recipient as hex of 32 bytes without `0x`, SOL as an
 * empty text, the depository in base58.
 * @throws InvalidAddressError
 * @source github.com/relayprotocol/relay-settlement, normalizePayloadParams
 */
function normaliseSolanaRequest(request: PlainWithdrawRequest): NormalisedWithdrawRequest {
  const { depository, currency, recipient } = request
  const currencyBytes = solanaCodec.encodeCurrency(currency)
  return {
    depository: solanaCodec.canonicalAddress(depository),
    currency: currency === solanaCodec.nativeCurrency ? '' : hexDigits(currencyBytes),
    recipient: hexDigits(solanaCodec.encodeAddress(recipient)),
    data: '0x',
  }
}
