import { bytesToHex, concatBytes, keccak256, personalMessageDigest, utf8Bytes } from '@causeway/core'
import { type AllocatorPayloadFamily, firstDifference } from '../../rules/allocatorPayloadFamily.ts'
import type { Family } from '../../rules/family.ts'
import { lighterQuoting } from './quoting/lighterQuoting.ts'
import { decodeLighterWithdrawal, lighterTransferMessage } from './withdrawal.ts'
import { normaliseLighterRequest } from './withdrawRequest.ts'

/** Payload and withdrawal are the same bytes of a transfer. Its L1 text is signed, as a personal message. */
const lighterAllocatorPayload: AllocatorPayloadFamily = {
  additionalData(withdrawal) {
    const { nonce, fromRouteType, toRouteType, apiKeyIndex, usdcFee, assetIndex, memo } =
      decodeLighterWithdrawal(withdrawal)
    const numbers = { nonce, fromRouteType, toRouteType, apiKeyIndex, usdcFee, assetIndex }
    return {
      ...Object.fromEntries(Object.entries(numbers).map(([name, value]) => [name, value.toString()])),
      memo,
    }
  },
  hashes(payload) {
    const text = utf8Bytes(lighterTransferMessage(decodeLighterWithdrawal(payload)))
    const prefix = utf8Bytes(`\x19Ethereum Signed Message:\n${text.length}`)
    return [bytesToHex(keccak256(concatBytes([prefix, text])))]
  },
  toWithdrawal: (payload) => payload,
  difference: (withdrawal, payload) =>
    firstDifference(decodeLighterWithdrawal(withdrawal), decodeLighterWithdrawal(payload)),
}

/** Lighter's entry in `families`: its rules, none of which opens a connection. */
export const lighterFamily = {
  name: 'Lighter',
  publicName: 'lvm',
  withdrawRequest: normaliseLighterRequest,
  allocatorPayload: lighterAllocatorPayload,
  /** EIP-191 by the key that the exchange keeps for the account. */
  async isSignedByOwner({ owner, requestHash, signature, recoverSigner, readOwnerKey }) {
    const signer = recoverSigner(personalMessageDigest(requestHash), signature)
    return signer !== undefined && signer === (await readOwnerKey(owner)).toLowerCase()
  },
  // No setting of the chains file lists payers. Depositories of the allocator file must have this member.
  payerSettings: [],
  depositoryMembers: ['networkId'],
  // The sender of a deposit pays its fee himself.
  takesDepositFeePayer: false,
  quoting: lighterQuoting,
} satisfies Family
