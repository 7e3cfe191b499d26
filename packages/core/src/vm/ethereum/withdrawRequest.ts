import type { NormalisedWithdrawRequest, PlainWithdrawRequest } from '../withdrawRequestParts.ts'
import { ethereumCodec } from './codec.ts'

/** Lower case. @throws InvalidAddressError @source oracle-protocol.md 3.5 */
export function normaliseEvmRequest(request: PlainWithdrawRequest): NormalisedWithdrawRequest {
  return {
    depository: ethereumCodec.canonicalAddress(request.depository),
    currency: ethereumCodec.canonicalAddress(request.currency),
    recipient: ethereumCodec.canonicalAddress(request.recipient),
    data: '0x',
  }
}
