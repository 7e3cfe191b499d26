import { concatBytes, hexDigits } from '@causeway/core'
import { InvalidWithdrawalError } from '@causeway/core/encodings'
import type { BufferReader } from 'bitcoinjs-lib/src/bufferutils'
import { readWholly, sizedBytes, uint64Bytes } from './bytes.ts'
import { plainBytes, unlessRefused } from './library.ts'
import {
  type BitcoinOutput,
  type BitcoinTransaction,
  bitcoinTransactionId,
  encodeBitcoinTransaction,
  isSameOutput,
  type OutPoint,
  parseBitcoinTransaction,
  readOutput,
} from './transaction.ts'

/** One input, and the output that it spends: as the PSBT claims, unless it carries the earlier transaction. */
export type PsbtInput = OutPoint & {
  readonly sequence: number
  /** `undefined` where the PSBT does not say. */
  readonly spent: BitcoinOutput | undefined
}

export type Psbt = {
  readonly transaction: BitcoinTransaction
  readonly inputs: readonly PsbtInput[]
}

/** Fields of one input that the library returns and that are used here. */
type Claims = {
  readonly nonWitnessUtxo?: Uint8Array
  readonly witnessUtxo?: BitcoinOutput
}

/** The first bytes of every PSBT: "psbt" and 0xff. */
const magicDigits = '70736274ff'
const globalKeys = { unsignedTransaction: '00', version: 'fb' }
/** Keys in the map of an input, in the order in which they are written. */
const inputKeys = { nonWitnessUtxo: '00', witnessUtxo: '01', redeemScript: '04', tapInternalKey: '17' }

/**
 * Most keys in all maps together. The library takes some microseconds for each; withdrawals have ten per input at most.
 */
const keysMax = 10_000

type KeyMap = ReadonlyMap<string, Uint8Array>

/**
 * Reads a PSBT of version 0 in two passes: `readMaps` splits the bytes strictly, then the library, which is
 * more lenient, reads the fields of its inputs. These are refused too: bytes after the end, lengths not in
 * their shortest form, other versions, more than 10,000 keys, and contradictory claims of what an input
 * spends. Unknown keys are ignored.
 * @throws InvalidWithdrawalError
 * @source BIP 174, BIP 371
 */
export function parsePsbt(bytes: Uint8Array): Psbt {
  const maps = readWholly(bytes, readMaps)
  const [globalMap, ...inputAndOutputMaps] = maps ?? []
  const transaction = globalMap && unsignedTransaction(globalMap)
  if (transaction === undefined) throw noPsbt()
  const { inputs, outputs } = transaction
  // The library refuses this too, but without a reason.
  if (new Set(inputs.map(({ txid, vout }) => `${txid} ${vout}`)).size !== inputs.length) {
    throw new InvalidWithdrawalError('it spends an output twice')
  }
  const claims = unlessRefused(
    ({ Psbt }): readonly Claims[] => Psbt.fromBuffer(plainBytes(bytes)).data.inputs,
  )
  if (claims === undefined || inputAndOutputMaps.length !== inputs.length + outputs.length) throw noPsbt()
  return {
    transaction,
    inputs: inputs.map(({ txid, vout, sequence }, index) => {
      const spent = spentOutput({ txid, vout }, claims[index] ?? {}, inputAndOutputMaps[index])
      return { txid, vout, sequence, spent }
    }),
  }
}

/** Data that an unsigned input carries about the output it spends, and about its owner. */
export type ShownInput = {
  /** The whole earlier transaction, which inputs without a witness show. */
  readonly nonWitnessUtxo?: Uint8Array
  readonly witnessUtxo?: BitcoinOutput
  readonly redeemScript?: Uint8Array
  readonly tapInternalKey?: Uint8Array
}

/**
 * An unsigned PSBT whose inputs show what they spend. Written by hand, because the library's builder takes most of a
 * millisecond per input: see decision 15. @param shown one per input
 */
export function encodePsbt(transaction: BitcoinTransaction, shown: readonly ShownInput[]): Uint8Array {
  const mapEnd = Uint8Array.of(0)
  const entry = (key: string, value: Uint8Array | undefined): readonly Uint8Array[] =>
    value === undefined ? [] : [sizedBytes(Buffer.from(key, 'hex')), sizedBytes(value)]
  return concatBytes([
    Buffer.from(magicDigits, 'hex'),
    ...entry(globalKeys.unsignedTransaction, encodeBitcoinTransaction(transaction)),
    mapEnd,
    ...shown.flatMap(({ nonWitnessUtxo, witnessUtxo, redeemScript, tapInternalKey }) => [
      ...entry(inputKeys.nonWitnessUtxo, nonWitnessUtxo),
      ...entry(
        inputKeys.witnessUtxo,
        witnessUtxo && concatBytes([uint64Bytes(witnessUtxo.value), sizedBytes(witnessUtxo.script)]),
      ),
      ...entry(inputKeys.redeemScript, redeemScript),
      ...entry(inputKeys.tapInternalKey, tapInternalKey),
      mapEnd,
    ]),
    ...transaction.outputs.map(() => mapEnd),
  ])
}

function noPsbt(): InvalidWithdrawalError {
  return new InvalidWithdrawalError('it is no PSBT')
}

/**
 * All maps up to the end of the bytes. The library would ignore bytes after the last map, and accept longer lengths.
 */
function readMaps(reader: BufferReader): readonly KeyMap[] | undefined {
  if (hexDigits(reader.readSlice(magicDigits.length / 2)) !== magicDigits) return undefined
  const maps: KeyMap[] = []
  let keyCount = 0
  while (reader.offset < reader.buffer.length) {
    const map = readMap(reader)
    maps.push(map)
    keyCount += map.size
  }
  return keyCount > keysMax ? undefined : maps
}

/** @throws RangeError when a key occurs twice */
function readMap(reader: BufferReader): KeyMap {
  const entries = new Map<string, Uint8Array>()
  for (let key = reader.readVarSlice(); key.length > 0; key = reader.readVarSlice()) {
    const name = hexDigits(key)
    if (entries.has(name)) throw new RangeError('a key occurs twice')
    entries.set(name, reader.readVarSlice())
  }
  return entries
}

function unsignedTransaction(entries: KeyMap): BitcoinTransaction | undefined {
  const version = entries.get(globalKeys.version)
  const bytes = entries.get(globalKeys.unsignedTransaction)
  if (bytes === undefined || version?.some((byte) => byte !== 0) === true) return undefined
  return parseBitcoinTransaction(bytes)
}

/**
 * The output that an input spends: from the earlier transaction if the PSBT carries it, else as `witnessUtxo` claims.
 * @param entries the input's map as it was written
 * @throws InvalidWithdrawalError when a claim is malformed or contradicts another
 */
function spentOutput(
  { txid, vout }: OutPoint,
  { nonWitnessUtxo, witnessUtxo }: Claims,
  entries: KeyMap | undefined,
): BitcoinOutput | undefined {
  const claimed = witnessUtxo && readOutput(witnessUtxo)
  if (claimed !== undefined && !isShortest(claimed, entries?.get(inputKeys.witnessUtxo))) throw noPsbt()
  if (nonWitnessUtxo === undefined) return claimed
  const earlier = parseBitcoinTransaction(nonWitnessUtxo)
  const isNamed = earlier !== undefined && bitcoinTransactionId(earlier) === txid
  const proven = isNamed ? earlier.outputs[vout] : undefined
  if (proven === undefined || (claimed !== undefined && !isSameOutput(claimed, proven))) throw noPsbt()
  return proven
}

/** True if the script's length is in its shortest form, behind the 8 bytes of the value: the library accepts any. */
function isShortest({ script }: BitcoinOutput, bytes: Uint8Array | undefined): boolean {
  if (bytes === undefined) return false
  return readWholly(bytes.subarray(8), (reader) => reader.readVarSlice())?.length === script.length
}
