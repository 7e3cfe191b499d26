import { bitcoinNetworkOf } from '@causeway/core/encodings'
import { type Family, signedText } from '../../rules/family.ts'
import { bitcoinAllocatorPayload } from './allocatorPayload.ts'
import { bitcoinQuoting } from './quoting/bitcoinQuoting.ts'
import { normaliseBitcoinRequest } from './withdrawRequest.ts'

/** Bitcoin's entry in `families`: its rules, none of which opens a connection. */
export const bitcoinFamily = {
  name: 'Bitcoin',
  publicName: 'bvm',
  withdrawRequest: normaliseBitcoinRequest,
  allocatorPayload: bitcoinAllocatorPayload,
  /** The curve library is loaded only when a Bitcoin owner signs. */
  async isSignedByOwner(signed) {
    const { isBitcoinOwnerSignature } = await import('./ownerSignature.ts')
    const network = bitcoinNetworkOf(signed.network)
    return isBitcoinOwnerSignature({ ...signedText(signed), owner: signed.owner, network })
  },
  // The chains file lists no payers, and depositories of the allocator file need no further member.
  payerSettings: [],
  depositoryMembers: [],
  // The sender of a deposit pays its network fee himself.
  takesDepositFeePayer: false,
  quoting: bitcoinQuoting,
} satisfies Family
