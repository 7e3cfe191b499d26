import { concatBytes, hexDigits } from '../../hashing/hexBytes.ts'
import { type ByteReader, readWholly } from './byteReader.ts'
import { variableBytes } from './byteWriter.ts'
import {
  type BitcoinOutput,
  type BitcoinTransaction,
  bitcoinTransactionId,
  encodeBitcoinTransaction,
  encodeOutput,
  type OutPoint,
  parseBitcoinTransaction,
  readOutput,
} from './transaction.ts'

export type PartialSignature = {
  readonly publicKey: Uint8Array
  /** DER and the byte of its hash type. */
  readonly signature: Uint8Array
}

/** One input, with what it spends as the PSBT says. Only an old transaction it carries proves that. */
export type PsbtInput = OutPoint & {
  readonly sequence: number
  /** `undefined` where the PSBT does not say. */
  readonly spent: BitcoinOutput | undefined
  readonly partialSignatures: readonly PartialSignature[]
  /** Of the key path of a taproot output. */
  readonly taprootSignature: Uint8Array | undefined
}

export type Psbt = {
  readonly transaction: BitcoinTransaction
  readonly inputs: readonly PsbtInput[]
}

const magic = [0x70, 0x73, 0x62, 0x74, 0xff]
const globalKeys = { unsignedTransaction: '00', version: 'fb' }
const inputKeys = {
  oldTransaction: '00',
  spentOutput: '01',
  partialSignature: '02',
  taprootSignature: '13',
}
const compressedKeyBytes = 33
const uncompressedKeyBytes = 65

type KeyMap = ReadonlyMap<string, Uint8Array>

/**
 * Reads a partially signed transaction of version 0; `undefined` for anything else, also where what an
 * input says about the output it spends contradicts itself. Fields that the protocol has no use for are
 * read over. @source BIP 174, BIP 371
 */
export function parsePsbt(bytes: Uint8Array): Psbt | undefined {
  return readWholly(bytes, (reader) => {
    if (!reader.startsWith(magic)) return undefined
    reader.take(magic.length)
    const transaction = unsignedTransaction(readMap(reader))
    if (transaction === undefined) return undefined
    const inputs = transaction.inputs.map((input) => readPsbtInput(input, readMap(reader)))
    for (const _output of transaction.outputs) readMap(reader)
    return { transaction, inputs }
  })
}

/** An unsigned PSBT whose inputs say what they spend. @param spent one per input */
export function encodePsbt(transaction: BitcoinTransaction, spent: readonly BitcoinOutput[]): Uint8Array {
  const end = Uint8Array.of(0)
  const entry = (key: string, value: Uint8Array) =>
    concatBytes([variableBytes(Buffer.from(key, 'hex')), variableBytes(value)])
  return concatBytes([
    Uint8Array.from(magic),
    entry(globalKeys.unsignedTransaction, encodeBitcoinTransaction(transaction)),
    end,
    ...spent.flatMap((output) => [entry(inputKeys.spentOutput, encodeOutput(output)), end]),
    ...transaction.outputs.map(() => end),
  ])
}

/** @throws RangeError when a key occurs twice */
function readMap(reader: ByteReader): KeyMap {
  const entries = new Map<string, Uint8Array>()
  for (let key = reader.variableBytes(); key.length > 0; key = reader.variableBytes()) {
    const name = hexDigits(key)
    if (entries.has(name)) throw new RangeError('a key occurs twice')
    entries.set(name, reader.variableBytes())
  }
  return entries
}

function unsignedTransaction(entries: KeyMap): BitcoinTransaction | undefined {
  const version = entries.get(globalKeys.version)
  const bytes = entries.get(globalKeys.unsignedTransaction)
  if (bytes === undefined || version?.some((byte) => byte !== 0) === true) return undefined
  const transaction = parseBitcoinTransaction(bytes)
  const isUnsigned = transaction?.inputs.every(
    ({ scriptSig, witness }) => scriptSig.length === 0 && witness.length === 0,
  )
  return isUnsigned === true ? transaction : undefined
}

/** @throws RangeError when a field is malformed or contradicts another */
function readPsbtInput(
  { txid, vout, sequence }: OutPoint & { sequence: number },
  entries: KeyMap,
): PsbtInput {
  const spent = spentOutput({ txid, vout }, entries)
  const partialSignatures = [...entries]
    .filter(([key]) => key.startsWith(inputKeys.partialSignature))
    .map(([key, signature]) => ({ publicKey: publicKey(key), signature }))
  const taprootSignature = entries.get(inputKeys.taprootSignature)
  return { txid, vout, sequence, spent, partialSignatures, taprootSignature }
}

function spentOutput({ txid, vout }: OutPoint, entries: KeyMap): BitcoinOutput | undefined {
  const [oldBytes, outputBytes] = [entries.get(inputKeys.oldTransaction), entries.get(inputKeys.spentOutput)]
  const claimed = outputBytes === undefined ? undefined : readWholly(outputBytes, readOutput)
  if (outputBytes !== undefined && claimed === undefined)
    throw new RangeError('the spent output is malformed')
  if (oldBytes === undefined) return claimed
  const old = parseBitcoinTransaction(oldBytes)
  const proven = old === undefined || bitcoinTransactionId(old) !== txid ? undefined : old.outputs[vout]
  if (proven === undefined) throw new RangeError('the old transaction is another one')
  if (claimed !== undefined && !isSame(claimed, proven))
    throw new RangeError('the spent output is another one')
  return proven
}

function publicKey(key: string): Uint8Array {
  const bytes = Uint8Array.from(Buffer.from(key.slice(inputKeys.partialSignature.length), 'hex'))
  if (bytes.length === compressedKeyBytes || bytes.length === uncompressedKeyBytes) return bytes
  throw new RangeError('a partial signature has no public key')
}

function isSame(one: BitcoinOutput, other: BitcoinOutput): boolean {
  return one.value === other.value && Buffer.compare(one.script, other.script) === 0
}
