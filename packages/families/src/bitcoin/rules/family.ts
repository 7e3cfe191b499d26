import { bitcoinNetworkOf } from '@causeway/core/encodings'
import { type Family, signedText } from '../../rules/family.ts'
import { bitcoinAllocatorPayload } from './allocatorPayload.ts'
import { bitcoinQuoting } from './quoting/bitcoinQuoting.ts'
import { normaliseBitcoinRequest } from './withdrawRequest.ts'

export const bitcoinFamily = {
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
  quoting: bitcoinQuoting,
} satisfies Family
