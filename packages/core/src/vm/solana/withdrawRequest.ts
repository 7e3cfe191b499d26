import { hexDigits } from '../../hashing/hexBytes.ts'
import type { NormalisedWithdrawRequest, PlainWithdrawRequest } from '../withdrawRequestParts.ts'
import { solanaCodec } from './codec.ts'

/**
 * 32 bytes of hex without `0x`, SOL as an empty text, the depository in base58.
 * @throws InvalidAddressError
 * @source oracle-protocol.md 3.5
 */
export function normaliseSolanaRequest(request: PlainWithdrawRequest): NormalisedWithdrawRequest {
  const { depository, currency, recipient } = request
  const currencyBytes = solanaCodec.encodeCurrency(currency)
  return {
    depository: solanaCodec.canonicalAddress(depository),
    currency: currency === solanaCodec.nativeCurrency ? '' : hexDigits(currencyBytes),
    recipient: hexDigits(solanaCodec.encodeAddress(recipient)),
    data: '0x',
  }
}
