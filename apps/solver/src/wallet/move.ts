import { hasFailed, type KeptRecord } from './signedRecord.ts'

/** Which of a record's two lists: what does its work, or what takes its place and does nothing. */
export type Offered = 'transaction' | 'cancellation'

/** Next move for a record, on any chain. */
export type Move =
  | { readonly kind: 'wait' }
  /** Send the newest one again, of transactions that may be sent. */
  | { readonly kind: 'broadcast'; readonly what: Offered }
  /** Sign the same again, for more or for where the chain stands now; or sign the first cancellation. */
  | { readonly kind: 'sign'; readonly what: Offered }
  | {
      readonly kind: 'settle'
      readonly outcome: Exclude<KeptRecord['outcome'], 'open'>
      /** Smallest units of the native coin; `undefined` where it is what was reserved. */
      readonly cost: bigint | undefined
    }

export const waits: Move = { kind: 'wait' }

/** The service is told of what its items are done by; of chores and closings it knows nothing. */
export const isToldAbout = ({ kind }: Pick<KeptRecord, 'kind'>): boolean =>
  kind !== 'chore' && kind !== 'close'

/** The service follows one hash: a record stays open until it was told which one was mined. */
export function isToBeTold(record: KeptRecord, minedHash: string): boolean {
  const isFollowed = record.outcome === 'open' && record.release === 'given' && isToldAbout(record)
  return isFollowed && (record.toldHash !== minedHash || record.tellingHash !== undefined)
}

/**
 * Transactions that may be sent: the one that the service was told of, since it follows that one; all, if the service
 * does not know the record.
 */
export function sendable<Transaction extends { readonly hash: string }>(
  record: Pick<KeptRecord, 'kind' | 'toldHash'>,
  transactions: readonly Transaction[],
): readonly Transaction[] {
  if (!isToldAbout(record)) return transactions
  return transactions.filter(({ hash }) => hash === record.toldHash)
}

/** True if another attempt may begin, because the last one has failed for good. */
export const mayTryAgain = (record: KeptRecord | undefined): boolean =>
  record === undefined || hasFailed(record)
