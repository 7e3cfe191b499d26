import type { AbiReader, Hex } from '@causeway/core'
import { abiBytes, bytesToHex, encodeAbiArray, encodeAbiTuple, hexDigits } from '@causeway/core'
import { InvalidWithdrawalError } from '@causeway/core/encodings'
import type { AllocatorPayloadFamily } from '../../rules/allocatorPayloadFamily.ts'
import { decodeAbiWithdrawal } from '../../rules/withdrawalBytes.ts'
import { uint32Bytes, uint64Bytes } from './bytes.ts'
import { encodePsbt } from './psbt.ts'
import {
  type BitcoinOutput,
  type BitcoinTransaction,
  isSameOutput,
  legacySighashes,
  type OutPoint,
} from './transaction.ts'
import { decodeBitcoinWithdrawal } from './withdrawal.ts'

/** Transaction that the allocator builds: the outputs to spend and the outputs to pay. Values in satoshi. */
export type BitcoinPayload = {
  readonly inputs: readonly (OutPoint & { readonly spent: BitcoinOutput })[]
  readonly outputs: readonly BitcoinOutput[]
}

/** Limits of a payload that is decoded: nobody signs larger ones. */
const inputsMax = 500
const outputsMax = 16
/** Sequence of every input, when signed and when sent: the signature commits to it. */
const finalSequence = 0xffff_ffff

/**
 * ABI encoding of one tuple of inputs and outputs, numbers in little-endian bytes.
 * @source BitcoinPayloadBuilder.sol
 */
export function encodeBitcoinPayload({ inputs, outputs }: BitcoinPayload): Hex {
  const encodedInputs = inputs.map(({ txid, vout, spent }) =>
    encodeAbiTuple([
      // Payloads have ids in the byte order of transactions: the reverse of display order.
      abiBytes(Uint8Array.from(Buffer.from(txid, 'hex')).reverse()),
      abiBytes(uint32Bytes(vout)),
      abiBytes(spent.script),
      abiBytes(uint64Bytes(spent.value)),
    ]),
  )
  const encodedOutputs = outputs.map(({ value, script }) =>
    encodeAbiTuple([abiBytes(uint64Bytes(value)), abiBytes(script)]),
  )
  const payload = encodeAbiTuple([
    { tail: encodeAbiArray(encodedInputs) },
    { tail: encodeAbiArray(encodedOutputs) },
  ])
  return bytesToHex(encodeAbiTuple([{ tail: payload }]))
}

/** Reads what `encodeBitcoinPayload` writes and nothing else. @throws InvalidWithdrawalError */
export function decodeBitcoinPayload(payload: Hex): BitcoinPayload {
  return decodeAbiWithdrawal(payload, { what: 'a payload', read, encode: encodeBitcoinPayload })
}

/**
 * Skips offsets: of the payload and its two lists, then of each member, then of a member's own parts.
 * `decodeAbiWithdrawal` encodes the result again and compares, so that wrong ones are refused.
 */
function read(reader: AbiReader): BitcoinPayload | undefined {
  const inputCount = Number(reader.skipWords(3).uint())
  if (inputCount > inputsMax) return undefined
  reader.skipWords(inputCount)
  const inputs = Array.from({ length: inputCount }, () => {
    reader.skipWords(4)
    // Back into display order, which `encodeBitcoinPayload` reversed.
    const txid = hexDigits(Uint8Array.from(reader.bytes()).reverse())
    const vout = Number(littleEndian(reader.bytes(), 4))
    const script = Uint8Array.from(reader.bytes())
    return { txid, vout, spent: { value: littleEndian(reader.bytes(), 8), script } }
  })
  const outputCount = Number(reader.uint())
  if (outputCount > outputsMax) return undefined
  reader.skipWords(outputCount)
  const outputs = Array.from({ length: outputCount }, () => {
    reader.skipWords(2)
    return { value: littleEndian(reader.bytes(), 8), script: Uint8Array.from(reader.bytes()) }
  })
  return { inputs, outputs }
}

/** Number in `byteCount` bytes; 0 of too few. Another length is refused later: it is encoded otherwise. */
function littleEndian(bytes: Uint8Array, byteCount: number): bigint {
  if (bytes.length < byteCount) return 0n
  return BigInt(`0x${hexDigits(Uint8Array.from(bytes.subarray(0, byteCount)).reverse())}`)
}

/** Bytes that the allocator assumes when it computes the fee: P2PKH inputs and outputs, and 10 beside them. */
function assumedBytes(inputCount: number, outputCount: number): bigint {
  return 148n * BigInt(inputCount) + 34n * BigInt(outputCount) + 10n
}

/** Bitcoin's payloads for the allocator. A withdrawal is the PSBT of the transaction that the payload describes. */
export const bitcoinAllocatorPayload: AllocatorPayloadFamily = {
  // The allocator pays a fee of rate times assumed bytes, so no other fee can come from it.
  additionalData(withdrawal) {
    const { inputs, transaction, fee } = decodeBitcoinWithdrawal(withdrawal)
    const bytes = assumedBytes(inputs.length, transaction.outputs.length)
    if (fee % bytes !== 0n) throw new InvalidWithdrawalError('its fee is no whole rate of the allocator')
    return {
      allocatorUtxos: inputs.map(({ txid, vout, spent }) => ({ txid, vout, value: spent.value.toString() })),
      feeRate: (fee / bytes).toString(),
    }
  },
  hashes(payload) {
    const decoded = decodeBitcoinPayload(payload)
    return legacySighashes(
      unsignedTransaction(decoded),
      decoded.inputs.map(({ spent }) => spent.script),
    ).map(bytesToHex)
  },
  toWithdrawal(payload) {
    const decoded = decodeBitcoinPayload(payload)
    const transaction = unsignedTransaction(decoded)
    return bytesToHex(
      encodePsbt(
        transaction,
        decoded.inputs.map(({ spent }) => ({ witnessUtxo: spent })),
      ),
    )
  },
  /** Compares what moves money: inputs and outputs. Signatures, version, sequences and lock time do not. */
  difference(withdrawal, payload) {
    const { inputs, transaction } = decodeBitcoinWithdrawal(withdrawal)
    const wanted = decodeBitcoinPayload(payload)
    const isSameInputs =
      inputs.length === wanted.inputs.length &&
      inputs.every(({ txid, vout, spent }, index) => {
        const other = wanted.inputs[index]
        return other?.txid === txid && other.vout === vout && isSameOutput(other.spent, spent)
      })
    if (!isSameInputs) return 'inputs'
    const { outputs } = transaction
    const isSameOutputs =
      outputs.length === wanted.outputs.length &&
      outputs.every((output, index) => isSameOutput(output, wanted.outputs[index]))
    return isSameOutputs ? undefined : 'outputs'
  },
}

function unsignedTransaction({ inputs, outputs }: BitcoinPayload): BitcoinTransaction {
  const unsigned = inputs.map(({ txid, vout }) => ({
    txid,
    vout,
    sequence: finalSequence,
    scriptSig: new Uint8Array(),
    witness: [],
  }))
  return { version: 1, inputs: unsigned, outputs, lockTime: 0 }
}
