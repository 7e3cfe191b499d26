import { hexDigits } from '@causeway/core'
import { solanaCodec } from '@causeway/core/encodings'
import { type AllocatorPayloadFamily, firstDifference } from '../../rules/allocatorPayloadFamily.ts'
import { type Family, signedText } from '../../rules/family.ts'
import type { NormalisedWithdrawRequest, PlainWithdrawRequest } from '../../rules/withdrawRequestParts.ts'
import { solanaQuoting } from './quoting/solanaQuoting.ts'
import { decodeSolanaWithdrawal, solanaWithdrawalId } from './withdrawal.ts'

/** The payload is the transfer request itself; what is signed is its SHA-256. @source withdrawals.md 1.3 */
const solanaAllocatorPayload: AllocatorPayloadFamily = {
  additionalData: () => undefined,
  hashes: (payload) => [solanaWithdrawalId(decodeSolanaWithdrawal(payload))],
  toWithdrawal: (payload) => payload,
  difference: (withdrawal, payload) =>
    firstDifference(decodeSolanaWithdrawal(withdrawal), decodeSolanaWithdrawal(payload)),
}

export const solanaFamily = {
  name: 'Solana',
  publicName: 'svm',
  withdrawRequest: normaliseSolanaRequest,
  allocatorPayload: solanaAllocatorPayload,
  /** Ed25519, whose curve is loaded when the first of its owners signs. */
  async isSignedByOwner(signed) {
    const { isSolanaOwnerSignature } = await import('./ownerSignature.ts')
    return isSolanaOwnerSignature({ ...signedText(signed), owner: signed.owner })
  },
  payerSettings: ['fillPayers'],
  depositoryMembers: ['domain', 'vault'],
  // Solana documentation, "RPC websocket methods"
  headSubscription: { method: 'slotSubscribe', params: [], notification: 'slotNotification' },
  takesDepositFeePayer: true,
  quoting: solanaQuoting,
} satisfies Family

/**
 * 32 bytes of hex without `0x`, SOL as an empty text, the depository in base58.
 * @throws InvalidAddressError
 * @source oracle-protocol.md 3.5
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
