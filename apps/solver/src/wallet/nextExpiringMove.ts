import type { Landing, PaymentState } from '@causeway/families'
import { isToBeTold, type Move, waitMove } from './move.ts'
import { type ExpiringRecord, newest } from './signedRecord.ts'

/** Facts about a record on a chain whose transactions expire, by agreement of its endpoints. */
export type ExpiringFacts = {
  readonly landing: Landing
  /** State of the record's id at a final block; undefined unless all transactions have expired without landing. */
  readonly state: PaymentState | undefined
  /** Unix seconds of the head. */
  readonly chainTime: number
  /**
   * Seconds that a transaction may take to land: one that is sent with less time left may land after its
   * deadline.
   */
  readonly landsWithinSeconds: number
}

/**
 * Next move for a record on a chain whose transactions expire. The same bytes are sent until they land or have expired at a
 * final block; then the content is signed anew while there is time and the chain has the id open. A mistake here costs a
 * fee but pays nothing twice, because each transaction marks its id on the chain. Pure.
 */
export function nextExpiringMove(record: ExpiringRecord, facts: ExpiringFacts): Move {
  const { landing } = facts
  if (record.outcome !== 'open' || landing.kind === 'unknown') return waitMove
  if (landing.kind === 'landed') {
    if (!landing.isFinal || isToBeTold(record, landing.hash)) return waitMove
    // Fee and rent are reserved: a success takes both, a revert the fee alone.
    return landing.succeeded
      ? { kind: 'settle', outcome: 'done', cost: undefined }
      : { kind: 'settle', outcome: 'reverted', cost: feeOf(record, landing.hash) }
  }
  const last = newest(record.transactions)
  // Nothing may be sent any more: the record is at its end once all of its transactions have expired.
  if (last === undefined || !hasTime(record, facts))
    return hasExpired(record, landing.finalHeight) ? settleUnlanded(record) : waitMove
  if (!hasExpired(record, landing.finalHeight))
    return record.release === 'given' ? { kind: 'broadcast', what: 'transaction' } : waitMove
  // Its report may have reached the service and the answer been lost: the report is repeated first.
  if (record.release === 'asked') return waitMove
  if (record.release === 'refused' || (facts.state !== undefined && facts.state !== 'open'))
    return settleUnlanded(record)
  // Nothing is signed before the id is known to be open and the service has answered about the last hash.
  if (facts.state === undefined || record.tellingHash !== undefined) return waitMove
  return { kind: 'sign', what: 'transaction' }
}

/** None of the record's transactions can land once a block of this height is final. */
export const hasExpired = ({ transactions }: ExpiringRecord, finalHeight: bigint): boolean =>
  transactions.every(({ lastValidHeight }) => lastValidHeight < finalHeight)

/** The end of a record of which no transaction ever landed. */
function settleUnlanded({ release }: ExpiringRecord): Move {
  return { kind: 'settle', outcome: release === 'refused' ? 'cancelled' : 'lost', cost: 0n }
}

/** True if a transaction that is sent now lands before the deadline. */
const hasTime = ({ deadline }: ExpiringRecord, { chainTime, landsWithinSeconds }: ExpiringFacts): boolean =>
  deadline === undefined || chainTime + landsWithinSeconds <= deadline

const feeOf = ({ transactions }: ExpiringRecord, hash: string): bigint =>
  transactions.find((one) => one.hash === hash)?.fee ?? 0n
