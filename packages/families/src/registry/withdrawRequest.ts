import type { ChainNetwork } from '@causeway/core/encodings'
import {
  type NormalisedWithdrawRequest,
  type PlainWithdrawRequest,
  spellWithdrawRequest,
} from '../rules/withdrawRequestParts.ts'
import { families } from './families.ts'

/** A withdraw request as the allocator expects it for the chain's family. @throws InvalidAddressError, InvalidWithdrawRequestError */
export function normaliseWithdrawRequest(
  { vmType, network }: ChainNetwork,
  request: PlainWithdrawRequest,
): NormalisedWithdrawRequest & { readonly kind: 'withdraw-request' } {
  return spellWithdrawRequest(families[vmType].withdrawRequest, request, network)
}
