import type { NormalisedWithdrawRequest, PlainWithdrawRequest } from '../withdrawRequestParts.ts'
import { tronEvmAddress } from './address.ts'

/** `0x` and 20 bytes, which are zero for TRX. @throws InvalidAddressError @source oracle-protocol.md 3.5 */
export function normaliseTronRequest(request: PlainWithdrawRequest): NormalisedWithdrawRequest {
  return {
    depository: tronEvmAddress(request.depository),
    currency: tronEvmAddress(request.currency),
    recipient: tronEvmAddress(request.recipient),
    data: '0x',
  }
}
