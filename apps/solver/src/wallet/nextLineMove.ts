import type { LineView } from '@causeway/families'
import type { OwnOutput } from '@causeway/families/rules'
import { isToBeTold, isToldAbout, type Move, type OfferKind, sendable, waitMove } from './move.ts'
import { type LineRecord, newest } from './signedRecord.ts'

/** A signed transaction of a line. */
export type LineOffer = LineRecord['transactions'][number]

/** A record and its place in its wallet's line. */
export type PlacedRecord = {
  readonly record: LineRecord
  /**
   * The one of its transactions or cancellations that a block has; undefined again after a reorganization.
   */
  readonly mined:
    | { readonly what: OfferKind; readonly offer: LineOffer; readonly isFinal: boolean }
    | undefined
  /** Output that its transaction has to spend now; `undefined` while the record before it offers nodes no transaction. */
  readonly parent: OwnOutput | undefined
  /** Unmined offers before it in the line. */
  readonly before: readonly LineOffer[]
}

/** A wallet's line, from its newest mined output on. */
export type PlacedLine = {
  readonly placed: readonly PlacedRecord[]
  /** Output that a new record would spend; `undefined` while the last record offers nodes no transaction. */
  readonly end: OwnOutput | undefined
  /** Transactions that nodes have and no block has, in their order. */
  readonly unmined: readonly LineOffer[]
}

export const isSamePlace = (
  one: Pick<OwnOutput, 'txid' | 'vout'>,
  other: Pick<OwnOutput, 'txid' | 'vout'> | undefined,
): boolean => one.txid === other?.txid && one.vout === other.vout

/**
 * The transaction that nodes may have now: the newest cancellation, else the one that the service was told
 * (`sendable`; for records that it does not know, the newest). Undefined before a release.
 */
function offerOf(record: LineRecord): LineOffer | undefined {
  const { cancellations, transactions, release } = record
  if (cancellations.length > 0) return newest(cancellations)
  return release === 'given' ? newest(sendable(record, transactions)) : undefined
}

/** Finds the place of each record in the line. Pure. @param open in their order in the line, which is that of their numbers */
export function placeLine(
  open: readonly LineRecord[],
  { tip, mined }: Pick<LineView, 'tip' | 'mined'>,
): PlacedLine {
  let parent: OwnOutput | undefined = tip
  const unmined: LineOffer[] = []
  const placed = open.map((record): PlacedRecord => {
    const landed = minedOf(record, mined)
    const placedRecord = { record, mined: landed, parent, before: [...unmined] }
    // `tip` is behind everything that is mined, so such a record does not move the end.
    if (landed !== undefined) return placedRecord
    const offer = offerOf(record)
    // Without an offer, or with one that spends another place, the records behind have no place until it is
    // signed anew.
    if (offer === undefined || !isSamePlace(offer.parent, parent)) parent = undefined
    else {
      // The first output of each transaction continues the line.
      parent = { txid: offer.hash, vout: 0, value: offer.left }
      unmined.push(offer)
    }
    return placedRecord
  })
  return { placed, end: parent, unmined }
}

function minedOf(
  { transactions, cancellations }: LineRecord,
  mined: LineView['mined'],
): PlacedRecord['mined'] {
  for (const [offerKind, offers] of [
    ['transaction', transactions],
    ['cancellation', cancellations],
  ] as const) {
    for (const offer of offers) {
      const minedOffer = mined.get(offer.hash)
      if (minedOffer !== undefined) return { what: offerKind, offer, isFinal: minedOffer.isFinal }
    }
  }
  return undefined
}

/** Facts about the chain and limits, beside the record's place. */
export type LineFacts = {
  /** Unix seconds of the newest block, or of this machine if that is later. */
  readonly chainSeconds: number
  readonly nowMs: number
  /**
   * An unmined transaction is signed for a higher fee after so long. Only the last of the line is, because its fee counts
   * for all before it.
   */
  readonly bumpAfterMs: number
  /** True for the last record of the line. */
  readonly isLast: boolean
}

/**
 * Next move for a record in a line. Pure. The first that applies:
 *
 * 1. The record is at its end: nothing.
 * 2. A block has one of its offers: it settles once that is final, and, if the service follows the record,
 *    once the service was told that hash.
 * 3. Its place is unknown, because the record before it is still to be signed anew or released: it waits.
 * 4. It must not be mined any more (`isOver`): below, its newest cancellation stands for its newest
 *    transaction; the first one is signed.
 * 5. The service has not answered yet if it may be sent: it waits.
 * 6. Its newest offer spends another place than the present one: it is signed anew for the present place.
 * 7. It is slow and the last of the line: it is signed for a higher fee.
 * 8. Its sendable offer spends the present place: the same bytes are sent again.
 *
 * For a transaction, 6 waits and 7 does not apply while a report to the service is open. The service follows
 * one hash per record of a work item (`isToldAbout`): `release` is its answer to the first report (`asked`
 * until it comes, then `given` or `refused`), `toldHash` the hash that it follows, and `tellingHash` one
 * whose report has no answer yet.
 *
 * Step 6 pays nothing twice: signing throws where the line up to the place that is spent names the id
 * already. So of two transactions of one id neither is behind the other; then the ways to them spend one
 * output twice, and only one is mined.
 */
export function nextLineMove({ record, mined, parent }: PlacedRecord, facts: LineFacts): Move {
  if (record.outcome !== 'open') return waitMove
  if (mined !== undefined) {
    if (!mined.isFinal || (mined.what === 'transaction' && isToBeTold(record, mined.offer.hash)))
      return waitMove
    const outcome = mined.what === 'transaction' ? 'done' : 'cancelled'
    return { kind: 'settle', outcome, cost: mined.offer.fee }
  }
  const offerKind = isOver(record, facts) ? 'cancellation' : 'transaction'
  if (parent === undefined || (offerKind === 'transaction' && record.release === 'asked')) return waitMove
  const last = newest(offerKind === 'cancellation' ? record.cancellations : record.transactions)
  if (last === undefined) return { kind: 'sign', what: offerKind }
  const maySignMore = offerKind === 'cancellation' || isReported(record, last.hash)
  if (!isSamePlace(last.parent, parent)) return maySignMore ? { kind: 'sign', what: offerKind } : waitMove
  const isSlow = facts.nowMs - last.signedAtMs >= facts.bumpAfterMs
  if (maySignMore && isSlow && facts.isLast) return { kind: 'sign', what: offerKind }
  const offer = offerOf(record)
  return offer !== undefined && isSamePlace(offer.parent, parent)
    ? { kind: 'broadcast', what: offerKind }
    : waitMove
}

/** True if no report of the record's newest transaction is open, or none is ever made. */
function isReported(record: LineRecord, newestHash: string): boolean {
  if (!isToldAbout(record)) return true
  return record.toldHash === newestHash && record.tellingHash === undefined
}

/** True if the record's payment must not be mined any more: it was cancelled, refused, or is late. */
function isOver({ cancellations, release, deadline }: LineRecord, { chainSeconds }: LineFacts): boolean {
  return (
    cancellations.length > 0 || release === 'refused' || (deadline !== undefined && chainSeconds > deadline)
  )
}
