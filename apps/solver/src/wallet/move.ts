import { hasFailed, type KeptRecord } from './signedRecord.ts'

/** A record's two lists of signed transactions: those that do its work, and cancellations, which take their place. */
export type OfferKind = 'transaction' | 'cancellation'

/** Next step of a desk for a record, on any chain. Each kind of chain has its rules: `nextMove`, `nextExpiringMove`, `nextLineMove`. */
export type Move =
  | { readonly kind: 'wait' }
  /** Send again the newest transaction of that list that may be sent, see `sendable`. */
  | { readonly kind: 'broadcast'; readonly what: OfferKind }
  /** Sign the same content again, for a higher price or a later expiry or place; or sign the first cancellation. */
  | { readonly kind: 'sign'; readonly what: OfferKind }
  | {
      readonly kind: 'settle'
      readonly outcome: Exclude<KeptRecord['outcome'], 'open'>
      /** Smallest units of the native coin; `undefined`: the reserved amount stays. */
      readonly cost: bigint | undefined
    }

export const waitMove: Move = { kind: 'wait' }

/** True for records of work items, whose transactions are reported to the service; it does not know chores and closings. */
export const isToldAbout = ({ kind }: Pick<KeptRecord, 'kind'>): boolean =>
  kind !== 'chore' && kind !== 'close'

/** True if the service must first be told which transaction was mined: it follows one hash, and the record stays open. */
export function isToBeTold(record: KeptRecord, minedHash: string): boolean {
  const isFollowed = record.outcome === 'open' && record.release === 'given' && isToldAbout(record)
  return isFollowed && (record.toldHash !== minedHash || record.tellingHash !== undefined)
}

/** Transactions that may be sent: only the one that the service follows, or all if it does not know the record. */
export function sendable<Transaction extends { readonly hash: string }>(
  record: Pick<KeptRecord, 'kind' | 'toldHash'>,
  transactions: readonly Transaction[],
): readonly Transaction[] {
  if (!isToldAbout(record)) return transactions
  return transactions.filter(({ hash }) => hash === record.toldHash)
}

/** True if an attempt may begin: there was none, or the last one has failed for good. */
export const mayTryAgain = (record: KeptRecord | undefined): boolean =>
  record === undefined || hasFailed(record)
