import { createLruCache, TransactionTooLargeError, TransactionUnreadableError } from '@causeway/rpc'
import type { FamilyReader } from './createFactsReader.ts'

/** Purposes that a transaction is read for. */
export type ReadingPurpose = 'deposits' | 'payment' | 'top-ups' | 'solver-top-ups'

/**
 * Reason for which a transaction cannot be read: its content, at any endpoint, or endpoints that answer for others do
 * not answer for it.
 */
export type PutAsideReason = 'too_large' | 'unreadable' | 'unanswered'

/** A transaction in a block that cannot be read. It is set apart by its id, so that all others are read. */
export type PutAside = {
  /** As the chain's codec spells it. */
  readonly transactionId: string
  readonly purpose: ReadingPurpose
  readonly reason: PutAsideReason
  readonly firstSeenSeconds: number
  readonly lastTriedSeconds: number
  /** Readings that failed; 1 when it is put aside. */
  readonly tries: number
}

/** Why a reading failed by what stands in the transaction; `undefined` for every other error. */
export function putAsideReason(error: unknown): PutAsideReason | undefined {
  if (error instanceof TransactionTooLargeError) return 'too_large'
  return error instanceof TransactionUnreadableError ? 'unreadable' : undefined
}

/** The reading; `undefined` for a transaction that its content keeps from being read. */
export async function unlessPutAside<Facts>(reading: Promise<Facts>): Promise<Facts | undefined> {
  try {
    return await reading
  } catch (error) {
    if (putAsideReason(error) !== undefined) return undefined
    throw error
  }
}

type Entry = Pick<PutAside, 'tries'> & { readonly error: unknown; readonly dueMs: number }

const pauseMs = 10_000
const pauseMaxMs = 600_000
const entriesMax = 1_000

/**
 * Reader that remembers transactions it could not read, and answers for them without asking again: at first for ten
 * seconds, in the end for ten minutes. Kept in memory, for the last 1,000 of a chain.
 * @param now milliseconds
 */
export function rememberUnread(reader: FamilyReader, now: () => number): FamilyReader {
  const aside = createLruCache<Entry>(entriesMax)
  async function read<Facts>(
    purpose: ReadingPurpose,
    transactionId: string,
    work: () => Promise<Facts>,
  ): Promise<Facts> {
    const key = `${purpose} ${transactionId}`
    const before = aside.get(key)
    if (before !== undefined && now() < before.dueMs) throw before.error
    try {
      const facts = await work()
      aside.delete(key)
      return facts
    } catch (error) {
      if (putAsideReason(error) !== undefined) {
        const tries = (before?.tries ?? 0) + 1
        const pause = Math.min(pauseMs * 2 ** (tries - 1), pauseMaxMs)
        aside.set(key, { error, tries, dueMs: now() + pause })
      }
      throw error
    }
  }
  return {
    ...reader,
    readDeposits: (question, options) =>
      read('deposits', question.transactionId, () => reader.readDeposits(question, options)),
    readPayment: (question, options) =>
      read('payment', question.transactionId, () => reader.readPayment(question, options)),
    forget() {
      aside.clear()
      reader.forget()
    },
  }
}
