import { type Family, signedText } from '../family.ts'
import { solanaAllocatorPayload } from './allocatorPayload.ts'
import { solanaCodec } from './codec.ts'
import { normaliseSolanaRequest } from './withdrawRequest.ts'

export const solanaFamily: Family = {
  name: 'Solana',
  publicName: 'svm',
  codec: () => solanaCodec,
  withdrawRequest: normaliseSolanaRequest,
  allocatorPayload: solanaAllocatorPayload,
  /** Ed25519, whose curve is loaded when the first of its owners signs. */
  async isSignedByOwner(signed) {
    const { isSolanaOwnerSignature } = await import('./ownerSignature.ts')
    return isSolanaOwnerSignature({ ...signedText(signed), owner: signed.owner })
  },
  payerSettings: ['fillPayers'],
  takesDepositFeePayer: true,
}
