import type { InBlock, PaymentFacts, PaymentQuestion } from '@causeway/core'
import { TransactionMissingError, TransactionNotFinalError, TransactionRevertedError } from '@causeway/rpc'
import { putAsideReason } from './putAside.ts'
import type { PaymentReading } from './settlingChain.ts'

/** A transaction that nobody can read is no payment, because nobody can attest it. */
function isUnread(error: unknown): boolean {
  return error instanceof TransactionMissingError || putAsideReason(error) !== undefined
}

/** The reading; `undefined` for a transaction that left the chain or failed. */
export async function unlessGone<Facts>(reading: Promise<Facts>): Promise<Facts | undefined> {
  try {
    return await reading
  } catch (error) {
    if (error instanceof TransactionMissingError || error instanceof TransactionRevertedError)
      return undefined
    throw error
  }
}

/** True where it failed in a block that cannot be dropped any more. */
async function hasFailed(final: Promise<unknown>): Promise<boolean> {
  try {
    await final
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

/**
 * A payment as the chain shows it now.
 * @param readers of the newest blocks, and of those that no reorganization takes back
 */
export async function readPaymentNow(
  readers: {
    readonly shallow: PaymentReader
    readonly deep: PaymentReader
    readonly head: (signal: AbortSignal) => Promise<bigint>
  },
  question: PaymentQuestion,
  signal: AbortSignal,
): Promise<PaymentReading> {
  const { shallow, deep, head } = readers
  try {
    const facts = await shallow.readPayment(question, { signal })
    const confirmations = Number((await head(signal)) - facts.evidence.blockNumber) + 1
    return { state: 'included', facts, confirmations }
  } catch (error) {
    if (isUnread(error)) return { state: 'missing' }
    if (!(error instanceof TransactionRevertedError)) throw error
    return { state: 'reverted', isFinal: await hasFailed(deep.readPayment(question, { signal })) }
  }
}
