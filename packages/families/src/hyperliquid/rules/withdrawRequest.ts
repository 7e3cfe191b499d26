import { abiBytes, abiUint, bytesToHex, encodeAbiTuple, uint64Text, utf8Bytes } from '@causeway/core'
import { hyperliquidCodec, InvalidWithdrawRequestError } from '@causeway/core/encodings'
import { z } from 'zod'
import {
  additionalDataOf,
  type NormalisedWithdrawRequest,
  type PlainWithdrawRequest,
  uint64Of,
} from '../../rules/withdrawRequestParts.ts'

const tokenIdBytes = 16

/** `additionalData` of a request. */
const schema = z.object({
  /** Without a colon, because a colon separates symbol and id in the exchange's name of a token. */
  currencyHyperliquidSymbol: z.string().regex(/^[\x21-\x39\x3b-\x7e]{0,64}$/),
  currentTime: uint64Text,
})

/**
 * A withdraw request in the form that is signed. Currency: empty for the native one, `SYMBOL:0x…` for tokens, whose
 * symbol is the caller's claim. Data: ABI encoding of the time, and for a token of the dex that it leaves and
 * the one that it reaches: a withdrawal has the same twice.
 * @throws InvalidAddressError, InvalidWithdrawRequestError
 * @source github.com/relayprotocol/relay-settlement, normalizePayloadParams
 */
export function normaliseHyperliquidRequest(request: PlainWithdrawRequest): NormalisedWithdrawRequest {
  const depository = hyperliquidCodec.canonicalAddress(request.depository)
  const recipient = hyperliquidCodec.canonicalAddress(request.recipient)
  const currencyBytes = hyperliquidCodec.encodeCurrency(request.currency)
  const { currencyHyperliquidSymbol, currentTime } = additionalDataOf(request, 'hyperliquid-vm', schema)
  const time = abiUint(uint64Of(currentTime, 'currentTime'))
  if (request.currency === hyperliquidCodec.nativeCurrency) {
    return { depository, currency: '', recipient, data: bytesToHex(encodeAbiTuple([time])) }
  }
  if (currencyHyperliquidSymbol === '') {
    throw new InvalidWithdrawRequestError('a token needs its symbol', 'currencyHyperliquidSymbol')
  }
  const dexName = Buffer.from(currencyBytes.subarray(tokenIdBytes)).toString('latin1')
  const dex = abiBytes(utf8Bytes(dexName === '' ? 'spot' : dexName))
  const currency = `${currencyHyperliquidSymbol}:${bytesToHex(currencyBytes)}`
  return { depository, currency, recipient, data: bytesToHex(encodeAbiTuple([time, dex, dex])) }
}
