import { evmAllocatorPayload } from '../ethereum/allocatorPayload.ts'
import type { Family } from '../family.ts'
import { tronEvmAddress } from './address.ts'
import { createTronCodec } from './codec.ts'
import { tronMessageDigest } from './ownerSignature.ts'
import { normaliseTronRequest } from './withdrawRequest.ts'

const codec = createTronCodec()

export const tronFamily: Family = {
  name: 'Tron',
  publicName: 'tvm',
  codec: () => codec,
  withdrawRequest: normaliseTronRequest,
  allocatorPayload: evmAllocatorPayload,
  isSignedByOwner: ({ owner, requestHash, signature, recoverSigner }) =>
    recoverSigner(tronMessageDigest(requestHash), signature) === tronEvmAddress(owner),
  payerSettings: ['fillContracts', 'fillPayers'],
  takesDepositFeePayer: false,
}
