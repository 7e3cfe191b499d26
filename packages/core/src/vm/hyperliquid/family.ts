import { isSignedByAccount } from '../ethereum/family.ts'
import type { Family } from '../family.ts'
import { hyperliquidAllocatorPayload } from './allocatorPayload.ts'
import { hyperliquidCodec } from './codec.ts'
import { normaliseHyperliquidRequest } from './withdrawRequest.ts'

export const hyperliquidFamily: Family = {
  name: 'Hyperliquid',
  publicName: 'hypevm',
  codec: () => hyperliquidCodec,
  withdrawRequest: normaliseHyperliquidRequest,
  allocatorPayload: hyperliquidAllocatorPayload,
  isSignedByOwner: isSignedByAccount,
  payerSettings: [],
  takesDepositFeePayer: false,
}
