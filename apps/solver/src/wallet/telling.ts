import type { ChainDesk, Replacement } from './chainDesk.ts'
import { isToldAbout } from './nextMove.ts'
import { type KeptRecord, newest } from './signedRecord.ts'

export type TellingOptions = {
  readonly active: () => Promise<readonly KeptRecord[]>
  /** Hash of the transaction of a record that is mined, where one was seen. */
  readonly minedHash: (record: KeptRecord) => string | undefined
  /** Fenced. */
  readonly save: (record: KeptRecord) => Promise<void>
  /** Sends one of a record's transactions. */
  readonly send: (record: KeptRecord, hash: string) => Promise<void>
}

/**
 * The service follows one hash of each item. Every other one that may land is told to it before it is sent, and the
 * one that landed at the latest when it is seen.
 */
export function createTelling({
  active,
  minedHash,
  save,
  send,
}: TellingOptions): Pick<ChainDesk, 'markTold' | 'replaced' | 'beginTelling' | 'releaseReplacement'> {
  return {
    markTold: (record) => save({ ...record, failureReported: true }),
    async replaced() {
      return (await active()).flatMap((record): readonly Replacement[] => {
        if (record.release !== 'given' || !isToldAbout(record)) return []
        const mined = minedHash(record)
        const last = newest<{ readonly hash: string }>(record.transactions)
        // What the service may have heard of comes first: the next one has to name what it replaces.
        const hash = record.tellingHash ?? mined ?? last?.hash
        const isMined = mined !== undefined && hash === mined
        return hash === undefined || (hash === record.toldHash && record.tellingHash === undefined)
          ? []
          : [{ record, hash, isMined }]
      })
    },
    async beginTelling({ record, hash }) {
      if (record.tellingHash === hash) return record
      const telling: KeptRecord = { ...record, tellingHash: hash }
      await save(telling)
      return telling
    },
    async releaseReplacement({ record, hash, isMined }, answer) {
      const { tellingHash: _said, ...rest } = record
      // A mined one counts whatever the service says; of another one that it refuses it knows nothing.
      const isTold = answer === 'accepted' || isMined
      await save({ ...rest, ...(isTold && { toldHash: hash }) })
      if (!isMined && answer === 'accepted') await send(record, hash)
    },
  }
}

/** What the service was told of, which it follows; of what it knows nothing, all. */
export function sendable<Transaction extends { readonly hash: string }>(
  record: Pick<KeptRecord, 'kind' | 'toldHash'>,
  transactions: readonly Transaction[],
): readonly Transaction[] {
  if (!isToldAbout(record)) return transactions
  return transactions.filter(({ hash }) => hash === record.toldHash)
}
