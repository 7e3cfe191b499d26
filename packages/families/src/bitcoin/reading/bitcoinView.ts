import { parseHexDigits } from '@causeway/core'
import type { NamedOutput } from '@causeway/rpc'
import { MalformedAnswerError } from '@causeway/rpc'
import { parseBlockHeader, parseMerkleBlock } from '../rules/block.ts'
import {
  type BitcoinTransaction,
  bitcoinTransactionId,
  type OutPoint,
  parseBitcoinTransaction,
} from '../rules/transaction.ts'

/** A transaction whose bytes hash to its id. */
export type SeenTransaction = {
  readonly transactionId: string
  readonly transaction: BitcoinTransaction
  /** All its bytes, witnesses included, in lower case: the id does not cover witnesses. */
  readonly hex: string
  /** The block that holds it, as the endpoint says; absent while it waits for one. */
  readonly block: { readonly hash: string; readonly height?: bigint } | undefined
}

/** A block of the endpoint's best chain; hash and time are recomputed from its header. */
export type BitcoinBlock = {
  readonly hash: string
  readonly height: bigint
  readonly timeSeconds: bigint
}

/** `by` is absent where an endpoint knows that an output is spent, but not by what. */
export type Spending =
  | { readonly kind: 'unspent' }
  | { readonly kind: 'spent'; readonly by: string | undefined }

/**
 * One endpoint's view of the chain, whichever API it speaks. Every method throws EndpointFailure or
 * MalformedAnswerError, which count as no answer.
 */
export interface BitcoinView {
  readonly alias: string
  readTipHeight(signal: AbortSignal): Promise<bigint>
  /** `undefined` when the best chain has no block at that height. */
  readBlockHash(height: bigint, signal: AbortSignal): Promise<string | undefined>
  /** `undefined` when the endpoint knows no such transaction. */
  readTransaction(transactionId: string, signal: AbortSignal): Promise<SeenTransaction | undefined>
  /**
   * The block that holds the transaction, with the merkle proof checked where the endpoint offers one;
   * `undefined` when the block is not on the best chain any more.
   */
  readBlockOf(transaction: SeenTransaction, signal: AbortSignal): Promise<BitcoinBlock | undefined>
  /** Tells if a confirmed transaction has spent the output; of no use for an unknown output. */
  readSpending(outPoint: OutPoint, signal: AbortSignal): Promise<Spending>
  /**
   * Confirmed outputs that an address holds, with their values, as the endpoint claims. `refused`: the address has too
   * many outputs for the endpoint to list. With `whose: 'own'` it then lists those of the newest transactions instead.
   */
  nameOutputs(
    address: string,
    signal: AbortSignal,
    whose?: 'own',
  ): Promise<readonly NamedOutput[] | 'refused'>
}

const hashPattern = /^[0-9a-f]{64}$/

/** A hash or transaction id as hex in display order. @throws MalformedAnswerError */
export function parseHashText(value: unknown, subject: string): string {
  if (typeof value !== 'string' || !hashPattern.test(value)) throw new MalformedAnswerError(subject)
  return value
}

/** A JSON number that is a height, count or value, as a bigint. @throws MalformedAnswerError */
export function parseHeight(value: unknown, subject: string): bigint {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) {
    throw new MalformedAnswerError(subject)
  }
  return BigInt(value)
}

/**
 * Satoshi of an amount that a node writes as a JSON number of bitcoin. A double holds any possible amount exactly to
 * the satoshi. @throws MalformedAnswerError
 */
export function parseCoins(value: unknown, subject: string): bigint {
  if (typeof value !== 'number' || !(value >= 0 && value <= 21_000_000))
    throw new MalformedAnswerError(subject)
  return BigInt(Math.round(value * satoshiPerCoin))
}

const satoshiPerCoin = 100_000_000

/** @throws MalformedAnswerError unless the bytes are a transaction of that id */
export function parseSeenTransaction(
  hex: unknown,
  { transactionId, block }: Pick<SeenTransaction, 'transactionId' | 'block'>,
  subject: string,
): SeenTransaction {
  const bytes = parseBytesText(hex, subject)
  const transaction = parseBitcoinTransaction(bytes)
  if (transaction === undefined || bitcoinTransactionId(transaction) !== transactionId) {
    throw new MalformedAnswerError(subject)
  }
  return { transactionId, transaction, hex: Buffer.from(bytes).toString('hex'), block }
}

/** The header's own hash and time. @throws MalformedAnswerError unless it is the header of `hash` */
export function parseHeaderOf(hash: string, hex: unknown, subject: string): { readonly timeSeconds: bigint } {
  const header = parseBlockHeader(parseBytesText(hex, subject))
  if (header?.hash !== hash) throw new MalformedAnswerError(subject)
  return { timeSeconds: header.timeSeconds }
}

/** @throws MalformedAnswerError unless the proof shows the transaction in that block */
export function checkMerkleProof(
  proof: unknown,
  { blockHash, transactionId }: { readonly blockHash: string; readonly transactionId: string },
  subject: string,
): void {
  const shown = parseMerkleBlock(parseBytesText(proof, subject))
  if (shown?.header.hash !== blockHash || !shown.transactionIds.includes(transactionId)) {
    throw new MalformedAnswerError(subject)
  }
}

function parseBytesText(value: unknown, subject: string): Uint8Array {
  // Nodes and APIs write hex without `0x`, so digits begin at 0.
  const bytes = typeof value === 'string' ? parseHexDigits(value, 0) : undefined
  if (bytes === undefined) throw new MalformedAnswerError(subject)
  return bytes
}
