import { type AllocatorPayloadFamily, firstDifference } from '../allocatorPayloadFamily.ts'
import { decodeSolanaWithdrawal, solanaWithdrawalId } from './withdrawal.ts'

/** The payload is the transfer request itself; what is signed is its SHA-256. @source withdrawals.md 1.3 */
export const solanaAllocatorPayload: AllocatorPayloadFamily = {
  additionalData: () => undefined,
  hashes: (payload) => [solanaWithdrawalId(decodeSolanaWithdrawal(payload))],
  toWithdrawal: (payload) => payload,
  difference: (withdrawal, payload) =>
    firstDifference(decodeSolanaWithdrawal(withdrawal), decodeSolanaWithdrawal(payload)),
}
