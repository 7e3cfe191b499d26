import type { LineView } from '@causeway/families'
import type { OwnOutput } from '@causeway/families/rules'
import { isToBeTold, isToldAbout, type Move, type OfferKind, sendable, waitMove } from './move.ts'
import { type LineRecord, newest } from './signedRecord.ts'

/** A signed transaction of a line. */
export type LineOffer = LineRecord['transactions'][number]

/** A record and its place in its wallet's line. */
export type PlacedRecord = {
  readonly record: LineRecord
  /** The one of its transactions or cancellations that a block has. */
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

/** The transaction that nodes may have now: a cancellation, or the one that the service follows; undefined before a release. */
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
 * Next move for a record in a line. The same bytes are sent until a block has them. If the place that they spend is no more
 * the record's, the content is signed anew for the present place; that pays nothing twice, because no transaction that
 * names an id is signed behind another that names it. A transaction that must not be mined any more is replaced by a
 * cancellation. Pure.
 *
 * Of a payment that the service follows (`isToldAbout`), `release` is the service's answer: `asked` until it comes, then
 * `given` or `refused`. `toldHash` is the transaction that the service looks for, and `tellingHash` one of which a report is
 * under way.
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
  // Without a parent, the record before it is signed first; and what the service has not answered is not sent.
  if (parent === undefined || (offerKind === 'transaction' && record.release === 'asked')) return waitMove
  const last = newest(offerKind === 'cancellation' ? record.cancellations : record.transactions)
  if (last === undefined) return { kind: 'sign', what: offerKind }
  // The service follows one hash: nothing more is signed before it was told of the last one.
  const isReported =
    offerKind === 'cancellation' ||
    !isToldAbout(record) ||
    (record.toldHash === last.hash && record.tellingHash === undefined)
  if (!isSamePlace(last.parent, parent)) return isReported ? { kind: 'sign', what: offerKind } : waitMove
  const isSlow = facts.nowMs - last.signedAtMs >= facts.bumpAfterMs
  if (isReported && isSlow && facts.isLast) return { kind: 'sign', what: offerKind }
  const offer = offerOf(record)
  return offer !== undefined && isSamePlace(offer.parent, parent)
    ? { kind: 'broadcast', what: offerKind }
    : waitMove
}

/** True if the record's payment must not be mined any more. */
function isOver({ cancellations, release, deadline }: LineRecord, { chainSeconds }: LineFacts): boolean {
  return (
    cancellations.length > 0 || release === 'refused' || (deadline !== undefined && chainSeconds > deadline)
  )
}
