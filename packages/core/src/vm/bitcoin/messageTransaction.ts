import { concatBytes, utf8Bytes } from '../../hashing/hexBytes.ts'
import { sha256 } from '../../hashing/sha256.ts'
import { uint32Bytes, uint64Bytes, variableBytes } from './byteWriter.ts'
import {
  type BitcoinInput,
  type BitcoinTransaction,
  bitcoinTransactionId,
  doubleSha256,
  encodeOutPoint,
  encodeOutput,
} from './transaction.ts'

/** The hash types that commit to the whole transaction; the first one exists for taproot alone. */
export const sighash = { default: 0x00, all: 0x01 } as const

const nothing = new Uint8Array()
const opReturn = Uint8Array.of(0x6a)
const amount = uint64Bytes(0n)

/** The two virtual transactions of BIP-322: the first commits to the message, the second spends it. */
type MessageTransactions = { readonly toSign: BitcoinTransaction; readonly script: Uint8Array }

export function messageTransactions(message: string, script: Uint8Array): MessageTransactions {
  const messageHash = taggedHash('BIP0322-signed-message', utf8Bytes(message))
  const scriptSig = concatBytes([Uint8Array.of(0x00, 0x20), messageHash])
  const toSpend = transaction({ txid: '00'.repeat(32), vout: 0xffff_ffff, scriptSig }, script)
  const spent = { txid: bitcoinTransactionId(toSpend), vout: 0, scriptSig: nothing }
  return { toSign: transaction(spent, opReturn), script }
}

/**
 * What a signature of version 0 witnesses signs in the one input of `toSign`, of hash type "all".
 * @param keyHash hash of the public key that the script asks for
 * @source BIP 143
 */
export function witnessSighash({ toSign }: MessageTransactions, keyHash: Uint8Array): Uint8Array {
  const { outPoints, sequences, outputs } = partsOf(toSign)
  const scriptCode = Uint8Array.of(0x76, 0xa9, 20, ...keyHash, 0x88, 0xac)
  return doubleSha256(
    concatBytes([
      uint32Bytes(toSign.version),
      doubleSha256(outPoints),
      doubleSha256(sequences),
      outPoints,
      variableBytes(scriptCode),
      amount,
      sequences,
      doubleSha256(outputs),
      uint32Bytes(toSign.lockTime),
      uint32Bytes(sighash.all),
    ]),
  )
}

/** What a signature by the key of a taproot output signs in the one input of `toSign`. @source BIP 341 */
export function taprootSighash({ toSign, script }: MessageTransactions, hashType: number): Uint8Array {
  const { outPoints, sequences, outputs } = partsOf(toSign)
  const [epoch, keyPath, inputIndex] = [Uint8Array.of(0), Uint8Array.of(0), uint32Bytes(0)]
  return taggedHash(
    'TapSighash',
    concatBytes([
      epoch,
      Uint8Array.of(hashType),
      uint32Bytes(toSign.version),
      uint32Bytes(toSign.lockTime),
      sha256(outPoints),
      sha256(amount),
      sha256(variableBytes(script)),
      sha256(sequences),
      sha256(outputs),
      keyPath,
      inputIndex,
    ]),
  )
}

function transaction(
  input: Pick<BitcoinInput, 'txid' | 'vout' | 'scriptSig'>,
  script: Uint8Array,
): BitcoinTransaction {
  return {
    version: 0,
    inputs: [{ ...input, sequence: 0, witness: [] }],
    outputs: [{ value: 0n, script }],
    lockTime: 0,
  }
}

function partsOf({ inputs, outputs }: BitcoinTransaction) {
  return {
    outPoints: concatBytes(inputs.map(encodeOutPoint)),
    sequences: concatBytes(inputs.map(({ sequence }) => uint32Bytes(sequence))),
    outputs: concatBytes(outputs.map(encodeOutput)),
  }
}

/** @source BIP 340 */
function taggedHash(tag: string, bytes: Uint8Array): Uint8Array {
  const tagHash = sha256(utf8Bytes(tag))
  return sha256(concatBytes([tagHash, tagHash, bytes]))
}
