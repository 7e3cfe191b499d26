import type { InBlock, PaymentFacts, PaymentQuestion } from '@causeway/core'
import { TransactionMissingError, TransactionNotFinalError, TransactionRevertedError } from '@causeway/rpc'
import { putAsideReason } from './putAside.ts'
import type { BlockRef, PaymentReading } from './settlingChain.ts'

/** True if the transaction is missing or unreadable. An unreadable one is no payment, since no oracle can attest it. */
function isUnread(error: unknown): boolean {
  return error instanceof TransactionMissingError || putAsideReason(error) !== undefined
}

/** Hashes of blocks by height, as `SettlingChain.blockHashes` returns them; blocks that do not exist are left out. */
export function hashesByHeight(blocks: readonly (BlockRef | undefined)[]): ReadonlyMap<bigint, string> {
  return new Map(blocks.flatMap((block) => (block === undefined ? [] : [[block.number, block.hash]])))
}

/** Result of the reading; `undefined` if the transaction left the chain or failed. */
export async function unlessGone<Facts>(reading: Promise<Facts>): Promise<Facts | undefined> {
  try {
    return await reading
  } catch (error) {
    if (error instanceof TransactionMissingError || error instanceof TransactionRevertedError)
      return undefined
    throw error
  }
}

/** True if the transaction failed in a final block. */
async function hasFailed(finalReading: Promise<unknown>): Promise<boolean> {
  try {
    await finalReading
    return false
  } catch (error) {
    if (error instanceof TransactionRevertedError) return true
    if (isUnread(error) || error instanceof TransactionNotFinalError) return false
    throw error
  }
}

type PaymentReader = {
  readPayment(
    question: PaymentQuestion,
    options: { readonly signal: AbortSignal },
  ): Promise<InBlock<PaymentFacts>>
}

/** `shallow` reads blocks of any depth. */
type ShallowReaders = {
  readonly shallow: PaymentReader
  readonly head: (signal: AbortSignal) => Promise<bigint>
}

/**
 * Current state of a payment, for families whose `SettlingChain.payment` needs nothing more.
 * @param readers `deep` reads only final blocks
 */
export function readPaymentNow(
  { deep, ...readers }: ShallowReaders & { readonly deep: PaymentReader },
  question: PaymentQuestion,
  signal: AbortSignal,
): Promise<PaymentReading> {
  const isFinallyReverted = () => hasFailed(deep.readPayment(question, { signal }))
  return readPaymentState({ ...readers, isFinallyReverted }, question, signal)
}

/** As `readPaymentNow`, with the family's own way to see whether a failure is final. */
export async function readPaymentState(
  readers: ShallowReaders & { readonly isFinallyReverted: () => Promise<boolean> },
  question: PaymentQuestion,
  signal: AbortSignal,
): Promise<PaymentReading> {
  const { shallow, head, isFinallyReverted } = readers
  try {
    const facts = await shallow.readPayment(question, { signal })
    const confirmations = Number((await head(signal)) - facts.evidence.blockNumber) + 1
    return { state: 'included', facts, confirmations }
  } catch (error) {
    if (isUnread(error)) return { state: 'missing' }
    if (!(error instanceof TransactionRevertedError)) throw error
    return { state: 'reverted', isFinal: await isFinallyReverted() }
  }
}
