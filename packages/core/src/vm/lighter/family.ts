import { personalMessageDigest } from '../../hashing/typedData.ts'
import type { Family } from '../family.ts'
import { lighterAllocatorPayload } from './allocatorPayload.ts'
import { lighterCodec } from './codec.ts'
import { normaliseLighterRequest } from './withdrawRequest.ts'

export const lighterFamily: Family = {
  name: 'Lighter',
  publicName: 'lvm',
  codec: () => lighterCodec,
  withdrawRequest: normaliseLighterRequest,
  allocatorPayload: lighterAllocatorPayload,
  /** EIP-191 by the key that the exchange keeps for the account. */
  async isSignedByOwner({ owner, requestHash, signature, recoverSigner, readOwnerKey }) {
    const signer = recoverSigner(personalMessageDigest(requestHash), signature)
    return signer !== undefined && signer === (await readOwnerKey(owner)).toLowerCase()
  },
  payerSettings: [],
  takesDepositFeePayer: false,
}
