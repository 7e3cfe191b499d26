import type { MinedReceipt } from '@causeway/families'
import { isToBeTold, isToldAbout, type Move, type OfferKind, waitMove } from './move.ts'
import { newest, type SignedRecord } from './signedRecord.ts'

/** Facts about a record on one chain, by agreement of its endpoints. */
export type RecordFacts = {
  /** The transaction of this record that is mined, if one is. */
  readonly mined: MinedReceipt | undefined
  /** The cancellation that is mined instead, if one is. */
  readonly cancelled: MinedReceipt | undefined
  /** Nonces below are used in the newest block. */
  readonly latestCount: number
  /** Nonces below are used in the newest final block. */
  readonly finalCount: number
  /** Unix seconds of the head. */
  readonly chainTime: number
  readonly nowMs: number
}

export type BumpRules = {
  /** An unmined transaction is offered at a higher price after so long. */
  readonly bumpAfterMs: number
  /** Beyond it nothing is offered. */
  readonly maxFeePerGasWei: bigint
}

/**
 * Next move for a record on a chain with nonces. Once it is released, the same bytes are sent until their nonce is used,
 * and signed at a higher price if they are not mined for long. After the deadline, or when a reorganization frees the nonce
 * of a failed attempt, a cancellation takes the nonce. Pure.
 */
export function nextMove(record: SignedRecord, facts: RecordFacts, rules: BumpRules): Move {
  const { mined, cancelled, latestCount, finalCount, chainTime } = facts
  if (mined !== undefined) {
    if (isToBeTold(record, mined.hash)) return waitMove
    return settleFinal(record, mined, mined.succeeded ? 'done' : 'reverted')
  }
  if (cancelled !== undefined) return settleFinal(record, cancelled, 'cancelled')
  // The nonce was used by a transaction that stands in no record.
  if (record.nonce < finalCount) return settle(record, 'lost', undefined)
  if (record.nonce < latestCount) return waitMove
  if (record.cancellations.length > 0) return send(record, 'cancellation', facts, rules)
  const isOver = record.deadline !== undefined && chainTime > record.deadline
  // Such a record is looked at again only when a reorganization has freed its nonce; another attempt may have begun.
  const mayNotReturn = record.outcome === 'reverted' || record.outcome === 'lost'
  if (isOver || mayNotReturn || record.release === 'refused') return { kind: 'sign', what: 'cancellation' }
  return record.release === 'asked' ? waitMove : send(record, 'transaction', facts, rules)
}

/** Sends the newest of a list again, or has it signed at a higher price once it is slow. */
function send(
  record: SignedRecord,
  offerKind: OfferKind,
  { nowMs }: RecordFacts,
  { bumpAfterMs, maxFeePerGasWei }: BumpRules,
): Move {
  const last = newest(offerKind === 'transaction' ? record.transactions : record.cancellations)
  if (last === undefined) return waitMove
  // The service follows one hash: no higher price is signed before it was told of the last one.
  const isTold = offerKind === 'cancellation' || !isToldAbout(record) || record.toldHash === last.hash
  const isSlow = nowMs - last.signedAtMs >= bumpAfterMs
  return isTold && isSlow && last.maxFeePerGasWei < maxFeePerGasWei
    ? { kind: 'sign', what: offerKind }
    : { kind: 'broadcast', what: offerKind }
}

/** Settles a record by a mined transaction as soon as its block is final. */
function settleFinal(
  record: SignedRecord,
  { isFinal, costWei }: MinedReceipt,
  outcome: Exclude<SignedRecord['outcome'], 'open'>,
): Move {
  return isFinal ? settle(record, outcome, costWei) : waitMove
}

function settle(
  record: SignedRecord,
  outcome: Exclude<SignedRecord['outcome'], 'open'>,
  costWei: bigint | undefined,
): Move {
  return record.outcome === outcome ? waitMove : { kind: 'settle', outcome, cost: costWei }
}
