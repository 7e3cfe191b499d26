import { type Family, signedText } from '../family.ts'
import { bitcoinAllocatorPayload } from './allocatorPayload.ts'
import { bitcoinNetworkOf } from './codec.ts'
import { normaliseBitcoinRequest } from './withdrawRequest.ts'

export const bitcoinFamily: Family = {
  name: 'Bitcoin',
  publicName: 'bvm',
  withdrawRequest: normaliseBitcoinRequest,
  allocatorPayload: bitcoinAllocatorPayload,
  /** The curve is loaded when the first of its owners signs. */
  async isSignedByOwner(signed) {
    const { isBitcoinOwnerSignature } = await import('./ownerSignature.ts')
    const network = bitcoinNetworkOf(signed.network)
    return isBitcoinOwnerSignature({ ...signedText(signed), owner: signed.owner, network })
  },
  payerSettings: [],
  depositoryMembers: [],
  takesDepositFeePayer: false,
}
