import { concatBytes, hexDigits } from '../../hashing/hexBytes.ts'
import { sha256 } from '../../hashing/sha256.ts'
import { type ByteReader, readWholly } from './byteReader.ts'
import { listBytes, uint32Bytes, uint64Bytes, variableBytes } from './byteWriter.ts'

/** An output of an earlier transaction. */
export type OutPoint = {
  /** Display order, 64 lower-case hex digits. */
  readonly txid: string
  readonly vout: number
}

export type BitcoinInput = OutPoint & {
  readonly scriptSig: Uint8Array
  readonly sequence: number
  /** Empty where the input has none. */
  readonly witness: readonly Uint8Array[]
}

export type BitcoinOutput = {
  /** Satoshi. */
  readonly value: bigint
  readonly script: Uint8Array
}

export type BitcoinTransaction = {
  readonly version: number
  readonly inputs: readonly BitcoinInput[]
  readonly outputs: readonly BitcoinOutput[]
  readonly lockTime: number
}

/**
 * Reads a serialised transaction, with witnesses or without; `undefined` for anything else. Lengths must
 * be in their shortest form, as nodes demand. @source BIP 144
 */
export function parseBitcoinTransaction(bytes: Uint8Array): BitcoinTransaction | undefined {
  return readWholly(bytes, readTransaction)
}

/** The serialisation without witnesses, which the id and signatures cover. */
export function encodeBitcoinTransaction({
  version,
  inputs,
  outputs,
  lockTime,
}: BitcoinTransaction): Uint8Array {
  return concatBytes([
    uint32Bytes(version),
    listBytes(inputs.map(encodeInput)),
    listBytes(outputs.map(encodeOutput)),
    uint32Bytes(lockTime),
  ])
}

/** Display order, 64 lower-case hex digits. */
export function bitcoinTransactionId(transaction: BitcoinTransaction): string {
  return hexDigits(doubleSha256(encodeBitcoinTransaction(transaction)).reverse())
}

/** What Bitcoin hashes blocks, transactions and messages with. */
export function doubleSha256(bytes: Uint8Array): Uint8Array {
  return sha256(sha256(bytes))
}

/** The serialised outpoint: the id in the order of its bytes, then the index. */
export function encodeOutPoint({ txid, vout }: OutPoint): Uint8Array {
  return concatBytes([Uint8Array.from(Buffer.from(txid, 'hex')).reverse(), uint32Bytes(vout)])
}

export function encodeOutput({ value, script }: BitcoinOutput): Uint8Array {
  return concatBytes([uint64Bytes(value), variableBytes(script)])
}

export function readOutput(reader: ByteReader): BitcoinOutput {
  return { value: reader.uint64(), script: reader.variableBytes() }
}

function encodeInput(input: BitcoinInput): Uint8Array {
  return concatBytes([encodeOutPoint(input), variableBytes(input.scriptSig), uint32Bytes(input.sequence)])
}

function readTransaction(reader: ByteReader): BitcoinTransaction | undefined {
  const version = reader.uint32()
  const hasWitnesses = reader.startsWith([0x00, 0x01])
  if (hasWitnesses) reader.take(2)
  const bare = reader.list(() => readInput(reader))
  const outputs = reader.list(() => readOutput(reader))
  const inputs = hasWitnesses ? bare.map((input) => ({ ...input, witness: readWitness(reader) })) : bare
  // Marked but empty witnesses would give one transaction two serialisations.
  if (hasWitnesses && inputs.every(({ witness }) => witness.length === 0)) return undefined
  return { version, inputs, outputs, lockTime: reader.uint32() }
}

function readInput(reader: ByteReader): BitcoinInput {
  const txid = hexDigits(Uint8Array.from(reader.take(32)).reverse())
  const vout = reader.uint32()
  return { txid, vout, scriptSig: reader.variableBytes(), sequence: reader.uint32(), witness: [] }
}

function readWitness(reader: ByteReader): Uint8Array[] {
  return reader.list(() => reader.variableBytes())
}
