import { concatBytes, hexDigits, sha256 } from '@causeway/core'
import type { Transaction } from 'bitcoinjs-lib'
import { uint32Bytes } from './bytes.ts'
import { bitcoinLibrary, plainBytes, unlessRefused } from './library.ts'

/** An output of an earlier transaction. */
export type OutPoint = {
  /** Display order, 64 lower-case hex digits. */
  readonly txid: string
  readonly vout: number
}

/** One text per output, in the spelling by which clients exclude outputs. */
export const outPointText = ({ txid, vout }: OutPoint): string => `${txid}:${vout}`

/** Each output once; of equal ones the last counts. */
export const distinctOutputs = <Output extends OutPoint>(outputs: readonly Output[]): readonly Output[] => [
  ...new Map(outputs.map((output) => [outPointText(output), output])).values(),
]

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

/** Transaction id that the input of a coinbase, which has no payer, names. @source Bitcoin Core, COutPoint::SetNull */
export const coinbaseId = '0'.repeat(64)

/** Satoshi of 21 million bitcoin: there never are more. */
export const satoshiMax = 21_000_000n * 100_000_000n

export function isSameOutput(one: BitcoinOutput, other: BitcoinOutput | undefined): boolean {
  return other !== undefined && one.value === other.value && Buffer.compare(one.script, other.script) === 0
}

/** Hash type of a signature that covers the whole transaction. */
export const signAll = 1

/**
 * Reads a serialised transaction, with or without witnesses; `undefined` for anything else. The library accepts lengths
 * in any form, and nodes only the shortest, which it writes: so it must write the same bytes again. @source BIP 144
 */
export function parseBitcoinTransaction(bytes: Uint8Array): BitcoinTransaction | undefined {
  const transaction = unlessRefused(({ Transaction }) => {
    const read = Transaction.fromBuffer(plainBytes(bytes))
    return Buffer.compare(read.toBuffer(), bytes) === 0 ? read : undefined
  })
  if (transaction === undefined) return undefined
  const { version, locktime: lockTime, ins, outs } = transaction
  const inputs = ins.map(({ hash, index, script, sequence, witness }) => ({
    txid: displayed(hash),
    vout: index,
    scriptSig: script,
    sequence,
    witness,
  }))
  return { version, inputs, outputs: outs.map(readOutput), lockTime }
}

/** An output of the library, whose value it reads as a signed number; values are unsigned. */
export function readOutput({ value, script }: BitcoinOutput): BitcoinOutput {
  return { value: BigInt.asUintN(64, value), script }
}

/** The serialisation without witnesses, which the id and signatures cover. */
export function encodeBitcoinTransaction(transaction: BitcoinTransaction): Uint8Array {
  return withoutWitnesses(transaction).toBuffer()
}

/** Display order, 64 lower-case hex digits. */
export function bitcoinTransactionId(transaction: BitcoinTransaction): string {
  return withoutWitnesses(transaction).getId()
}

/**
 * Sighashes of each input without a witness, of hash type "all". The library's own function would rewrite the pushes of
 * a script before hashing, while nodes hash them unchanged.
 * @param transaction unsigned: while one input is hashed with its script, those of all others are empty
 * @param scripts one per input
 */
export function legacySighashes(
  transaction: BitcoinTransaction,
  scripts: readonly Uint8Array[],
): readonly Uint8Array[] {
  const prepared = withoutWitnesses(transaction)
  return prepared.ins.map((input, index) => {
    const { script } = input
    input.script = scripts[index] ?? script
    const signed = concatBytes([prepared.toBuffer(), uint32Bytes(signAll)])
    input.script = script
    return doubleSha256(signed)
  })
}

/** Hash function of Bitcoin for blocks, transactions and messages. */
export function doubleSha256(bytes: Uint8Array): Uint8Array {
  return sha256(sha256(bytes))
}

/** A hash or id in display order: its bytes reversed, as hex digits. */
export function displayed(hash: Uint8Array): string {
  return hexDigits(Uint8Array.from(hash).reverse())
}

function withoutWitnesses({ version, inputs, outputs, lockTime }: BitcoinTransaction): Transaction {
  const { Transaction } = bitcoinLibrary()
  const transaction = new Transaction()
  transaction.version = version
  transaction.locktime = lockTime
  // The library has ids in the byte order of transactions: the reverse of display order.
  transaction.ins = inputs.map(({ txid, vout, scriptSig, sequence }) => ({
    hash: Uint8Array.from(Buffer.from(txid, 'hex')).reverse(),
    index: vout,
    script: scriptSig,
    sequence,
    witness: [],
  }))
  transaction.outs = outputs.map(({ value, script }) => ({ value: BigInt.asIntN(64, value), script }))
  return transaction
}
