import { createLruCache, TransactionTooLargeError, TransactionUnreadableError } from '@causeway/rpc'
import type { FamilyReader } from './createFactsReader.ts'

/** Purposes that a transaction is read for. */
export type ReadingPurpose = 'deposits' | 'payment' | 'top-ups' | 'solver-top-ups'

/**
 * Why a transaction cannot be read: its content, whatever the endpoint (`too_large`, `unreadable`), or endpoints that
 * answer for other transactions but not for this one (`unanswered`).
 */
export type PutAsideReason = 'too_large' | 'unreadable' | 'unanswered'

/** A transaction in a block that cannot be read. It is retried apart, so that it does not delay others. */
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

/** Why a transaction's content makes it unreadable; `undefined` for any other error. */
export function putAsideReason(error: unknown): PutAsideReason | undefined {
  if (error instanceof TransactionTooLargeError) return 'too_large'
  return error instanceof TransactionUnreadableError ? 'unreadable' : undefined
}

/** Result of the reading; `undefined` if the transaction's content makes it unreadable. */
export async function unlessPutAside<Facts>(reading: Promise<Facts>): Promise<Facts | undefined> {
  try {
    return await reading
  } catch (error) {
    if (putAsideReason(error) !== undefined) return undefined
    throw error
  }
}

/** A failed reading, and when it may be tried again. */
type UnreadEntry = Pick<PutAside, 'tries'> & { readonly error: unknown; readonly dueMs: number }

const pauseMs = 10_000
const pauseMaxMs = 600_000
const entriesMax = 1_000

/**
 * A reader that remembers which transactions could not be read, and throws the same error again without asking the
 * chain: after the first failure for ten seconds, then twice as long each time, up to ten minutes. It remembers the
 * last 1,000 of a chain, in memory.
 * @param now milliseconds
 */
export function rememberUnread(reader: FamilyReader, now: () => number): FamilyReader {
  const unreadEntries = createLruCache<UnreadEntry>(entriesMax)
  async function read<Facts>(
    purpose: ReadingPurpose,
    transactionId: string,
    work: () => Promise<Facts>,
  ): Promise<Facts> {
    const key = `${purpose} ${transactionId}`
    const previousEntry = unreadEntries.get(key)
    if (previousEntry !== undefined && now() < previousEntry.dueMs) throw previousEntry.error
    try {
      const facts = await work()
      unreadEntries.delete(key)
      return facts
    } catch (error) {
      if (putAsideReason(error) !== undefined) {
        const tries = (previousEntry?.tries ?? 0) + 1
        const pause = Math.min(pauseMs * 2 ** (tries - 1), pauseMaxMs)
        unreadEntries.set(key, { error, tries, dueMs: now() + pause })
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
      unreadEntries.clear()
      reader.forget()
    },
  }
}
