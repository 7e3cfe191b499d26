import {
  abiBytes,
  abiUint,
  bytesToHex,
  encodeAbiArray,
  encodeAbiTuple,
  uint32Number,
  uint64Text,
} from '@causeway/core'
import { bitcoinNetworkOf, createBitcoinCodec, InvalidWithdrawRequestError } from '@causeway/core/encodings'
import { z } from 'zod'
import {
  additionalDataOf,
  type NormalisedWithdrawRequest,
  type PlainWithdrawRequest,
  uint64Of,
} from '../../rules/withdrawRequestParts.ts'
import { outputScript } from './script.ts'

/** `additionalData` of a request. `feeRate`: satoshi per byte. */
const schema = z.object({
  allocatorUtxos: z
    .array(z.object({ txid: z.string(), vout: uint32Number, value: uint64Text }))
    .min(1)
    .max(256),
  feeRate: uint64Text,
})

/** One output of the depository that the withdrawal may spend, as its request names it. */
export type AllocatorUtxo = {
  /** Display order, 64 lower-case hex digits. */
  readonly txid: string
  readonly vout: number
  /** Satoshi. */
  readonly value: bigint
}

/**
 * The outputs that a request names, each once. Their values are the caller's claim.
 * @throws InvalidWithdrawRequestError, InvalidTransactionIdError
 */
export function allocatorUtxos(request: PlainWithdrawRequest): readonly AllocatorUtxo[] {
  const { canonicalTransactionId } = createBitcoinCodec()
  const requestedUtxos = additionalDataOf(request, 'bitcoin-vm', schema).allocatorUtxos
  const utxos = requestedUtxos.map(({ txid, vout, value }) => ({
    txid: canonicalTransactionId(txid),
    vout,
    value: uint64Of(value, 'allocatorUtxos.value'),
  }))
  if (new Set(utxos.map(({ txid, vout }) => `${txid} ${vout}`)).size !== utxos.length) {
    throw new InvalidWithdrawRequestError('an output is named twice', 'allocatorUtxos')
  }
  return utxos
}

/**
 * A withdraw request in the form that is signed: the recipient as base64 of its script, and as data the ABI encoding of
 * the outputs to spend, which all pay the depository's script, and of the fee rate.
 * @throws InvalidAddressError, InvalidTransactionIdError, InvalidWithdrawRequestError
 * @source github.com/relayprotocol/relay-settlement, normalizePayloadParams
 */
export function normaliseBitcoinRequest(
  request: PlainWithdrawRequest,
  networkName?: string,
): NormalisedWithdrawRequest {
  const network = bitcoinNetworkOf(networkName)
  const codec = createBitcoinCodec(network)
  if (request.currency !== codec.nativeCurrency) {
    throw new InvalidWithdrawRequestError('Bitcoin has its native currency alone', 'currency')
  }
  const allocatorScript = outputScript(request.depository, network)
  const utxos = allocatorUtxos(request).map(({ txid, vout, value }) =>
    encodeAbiTuple([
      // The signed data has ids in the byte order of transactions: the reverse of display order.
      { word: Uint8Array.from(codec.encodeTransactionId(txid)).reverse() },
      abiUint(BigInt(vout)),
      abiUint(value),
      abiBytes(allocatorScript),
    ]),
  )
  const { feeRate } = additionalDataOf(request, 'bitcoin-vm', schema)
  const data = encodeAbiTuple([{ tail: encodeAbiArray(utxos) }, abiUint(uint64Of(feeRate, 'feeRate'))])
  return {
    depository: codec.canonicalAddress(request.depository),
    currency: codec.nativeCurrency,
    recipient: Buffer.from(outputScript(request.recipient, network)).toString('base64'),
    data: bytesToHex(encodeAbiTuple([{ tail: data }])),
  }
}
