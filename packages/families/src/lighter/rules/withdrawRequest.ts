import { abiUint, bytesToHex, encodeAbiTuple, parseHexDigits, uint64Text } from '@causeway/core'
import { InvalidWithdrawRequestError, lighterCodec, lighterCurrency } from '@causeway/core/encodings'
import { z } from 'zod'
import {
  additionalDataOf,
  type NormalisedWithdrawRequest,
  type PlainWithdrawRequest,
  uint64Of,
} from '../../rules/withdrawRequestParts.ts'

/** `additionalData` of a request: the members of its transfer that the request has nowhere else. */
const schema = z.object({
  nonce: uint64Text,
  fromRouteType: uint64Text,
  toRouteType: uint64Text,
  apiKeyIndex: uint64Text,
  usdcFee: uint64Text,
  assetIndex: uint64Text,
  // A bound on the text; `memoWord` checks its bytes.
  memo: z.string().max(256),
})
const transferAction = 0n
const memoBytesMax = 32

/**
 * A withdraw request in the form that is signed: the asset's index as currency, and as data the ABI encoding of action,
 * nonce, routes, key, fee and memo. The asset must be the request's currency, or one could be withdrawn for another.
 * @throws InvalidAddressError, InvalidWithdrawRequestError
 * @source rule P-116; github.com/relayprotocol/relay-settlement, normalizePayloadParams
 */
export function normaliseLighterRequest(request: PlainWithdrawRequest): NormalisedWithdrawRequest {
  const depository = lighterCodec.canonicalAddress(request.depository)
  const recipient = lighterCodec.canonicalAddress(request.recipient)
  const transferData = additionalDataOf(request, 'lighter-vm', schema)
  const [assetIndex, fromRoute] = [
    uint64Of(transferData.assetIndex, 'assetIndex'),
    uint64Of(transferData.fromRouteType, 'fromRouteType'),
  ]
  if (lighterCurrency(assetIndex, fromRoute) !== lighterCodec.canonicalAddress(request.currency)) {
    throw new InvalidWithdrawRequestError('the asset is not the currency of the request', 'assetIndex')
  }
  const data = encodeAbiTuple([
    abiUint(transferAction),
    abiUint(uint64Of(transferData.nonce, 'nonce')),
    abiUint(fromRoute),
    abiUint(uint64Of(transferData.toRouteType, 'toRouteType')),
    abiUint(uint64Of(transferData.apiKeyIndex, 'apiKeyIndex')),
    abiUint(uint64Of(transferData.usdcFee, 'usdcFee')),
    { word: memoWord(transferData.memo) },
  ])
  return { depository, currency: assetIndex.toString(), recipient, data: bytesToHex(data) }
}

/** Hex with or without `0x`, padded on the right. */
function memoWord(memo: string): Uint8Array {
  const bytes = parseHexDigits(memo, memo.startsWith('0x') ? 2 : 0)
  if (bytes === undefined) throw new InvalidWithdrawRequestError('the memo is not whole bytes in hex', 'memo')
  if (bytes.length > memoBytesMax) {
    throw new InvalidWithdrawRequestError(`the memo exceeds ${memoBytesMax} bytes`, 'memo')
  }
  const word = new Uint8Array(memoBytesMax)
  word.set(bytes)
  return word
}
