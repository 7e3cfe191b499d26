import type { SignedRecord } from './signedRecord.ts'

/** What one chain says about a record; final facts are those that its nodes call finalized. */
export type RecordFacts = {
  /** Of the transaction, where it is mined. */
  readonly mined: Mined | undefined
  /** Of the cancellation, where that is mined instead. */
  readonly cancelled: Mined | undefined
  /** Nonces below are used. */
  readonly latestCount: number
  /** Nonces below are used for good. */
  readonly finalCount: number
  /** Unix seconds of the head. */
  readonly chainTime: number
}
export type Mined = { readonly succeeded: boolean; readonly isFinal: boolean }

export type Move =
  | { readonly kind: 'wait' }
  | { readonly kind: 'broadcast'; readonly what: 'transaction' | 'cancellation' }
  /** Sign the cancellation first. */
  | { readonly kind: 'cancel' }
  | { readonly kind: 'settle'; readonly outcome: Exclude<SignedRecord['outcome'], 'open'> }

const wait: Move = { kind: 'wait' }

/**
 * What to do about a record. Once it is released, the same bytes are sent until their nonce is used; when time is over, or a
 * rewound chain has the nonce of a failed attempt free again, a transaction that does nothing takes it.
 */
export function nextMove(record: SignedRecord, facts: RecordFacts): Move {
  const { mined, cancelled, latestCount, finalCount, chainTime } = facts
  if (mined !== undefined) return final(record, mined, mined.succeeded ? 'done' : 'reverted')
  if (cancelled !== undefined) return final(record, cancelled, 'cancelled')
  if (record.nonce < finalCount) return settled(record, 'lost')
  if (record.nonce < latestCount) return wait
  if (record.cancellation !== undefined) return { kind: 'broadcast', what: 'cancellation' }
  const isOver = record.deadline !== undefined && chainTime > record.deadline
  const mayNotReturn = record.outcome === 'reverted' || record.outcome === 'lost'
  if (isOver || mayNotReturn || record.release === 'refused') return { kind: 'cancel' }
  return record.release === 'asked' ? wait : { kind: 'broadcast', what: 'transaction' }
}

function final(
  record: SignedRecord,
  { isFinal }: Mined,
  outcome: Exclude<SignedRecord['outcome'], 'open'>,
): Move {
  return isFinal ? settled(record, outcome) : wait
}

function settled(record: SignedRecord, outcome: Exclude<SignedRecord['outcome'], 'open'>): Move {
  return record.outcome === outcome ? wait : { kind: 'settle', outcome }
}

/** Records that have to be looked at: open ones, and those whose nonce a rewound chain has free again. */
export function activeRecords(
  records: readonly SignedRecord[],
  latestCount: number,
): readonly SignedRecord[] {
  return records
    .filter(({ outcome, nonce }) => outcome === 'open' || nonce >= latestCount)
    .sort((one, other) => one.nonce - other.nonce)
}

/** The first nonce that neither the chain nor a kept record has. */
export function nextNonce(records: readonly SignedRecord[], latestCount: number): number {
  return records.reduce((next, { nonce }) => Math.max(next, nonce + 1), latestCount)
}
