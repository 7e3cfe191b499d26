import type { LineView } from '@causeway/families'
import type { OwnOutput } from '@causeway/families/rules'
import { isToBeTold, isToldAbout, type Move, type Offered, sendable, waits } from './move.ts'
import { type LineRecord, newest } from './signedRecord.ts'

export type LineOffer = LineRecord['transactions'][number]

/** A record and where it stands in its wallet's line. */
export type PlacedRecord = {
  readonly record: LineRecord
  /** The one of its transactions that a block has, if there is one. */
  readonly mined: { readonly what: Offered; readonly offer: LineOffer; readonly isFinal: boolean } | undefined
  /** The place that it has to spend now; `undefined` while the record before it offers none. */
  readonly parent: OwnOutput | undefined
  /** Unmined offers before it in the line. */
  readonly before: readonly LineOffer[]
}

export type PlacedLine = {
  readonly placed: readonly PlacedRecord[]
  /** Output with which another record can begin; `undefined` while the last one offers none. */
  readonly end: OwnOutput | undefined
  /** Offers that are not mined. */
  readonly unmined: readonly LineOffer[]
}

export const isSamePlace = (
  one: Pick<OwnOutput, 'txid' | 'vout'>,
  other: Pick<OwnOutput, 'txid' | 'vout'> | undefined,
): boolean => one.txid === other?.txid && one.vout === other.vout

/** Present offer of a record to nodes: its cancellation, or the transaction that the service follows. */
function offerOf(record: LineRecord): LineOffer | undefined {
  const { cancellations, transactions, release } = record
  if (cancellations.length > 0) return newest(cancellations)
  return release === 'given' ? newest(sendable(record, transactions)) : undefined
}

/** Place of each record in the line. Pure. @param open by number: their order in the line */
export function placeLine(
  open: readonly LineRecord[],
  { tip, mined }: Pick<LineView, 'tip' | 'mined'>,
): PlacedLine {
  let parent: OwnOutput | undefined = tip
  const unmined: LineOffer[] = []
  const placed = open.map((record): PlacedRecord => {
    const landed = minedOf(record, mined)
    const placedRecord = { record, mined: landed, parent, before: [...unmined] }
    if (landed !== undefined) return placedRecord
    const offer = offerOf(record)
    if (offer === undefined || !isSamePlace(offer.parent, parent)) parent = undefined
    else {
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

export type LineFacts = {
  readonly chainSeconds: number
  readonly nowMs: number
  /** An offer that is not mined is raised after so long, where nothing is offered behind it: it lifts what is before it. */
  readonly bumpAfterMs: number
  readonly isLast: boolean
}

/**
 * Next move for a record. The same bytes are sent until a block has them; if the line has moved elsewhere they are
 * signed anew, which pays nothing twice: no transaction with an id is signed behind another with the same id. A
 * transaction that must not be mined any more is replaced by one that pays nothing. Pure.
 */
export function nextLineMove({ record, mined, parent }: PlacedRecord, facts: LineFacts): Move {
  if (record.outcome !== 'open') return waits
  if (mined !== undefined) {
    if (!mined.isFinal || (mined.what === 'transaction' && isToBeTold(record, mined.offer.hash))) return waits
    const outcome = mined.what === 'transaction' ? 'done' : 'cancelled'
    return { kind: 'settle', outcome, cost: mined.offer.fee }
  }
  const offerKind = isOver(record, facts) ? 'cancellation' : 'transaction'
  if (parent === undefined || (offerKind === 'transaction' && record.release === 'asked')) return waits
  const last = newest(offerKind === 'cancellation' ? record.cancellations : record.transactions)
  if (last === undefined) return { kind: 'sign', what: offerKind }
  // The service follows what it was told: nothing is signed before it knows of the last one.
  const isKnown =
    offerKind === 'cancellation' ||
    !isToldAbout(record) ||
    (record.toldHash === last.hash && record.tellingHash === undefined)
  if (!isSamePlace(last.parent, parent)) return isKnown ? { kind: 'sign', what: offerKind } : waits
  const isSlow = facts.nowMs - last.signedAtMs >= facts.bumpAfterMs
  if (isKnown && isSlow && facts.isLast) return { kind: 'sign', what: offerKind }
  const offer = offerOf(record)
  return offer !== undefined && isSamePlace(offer.parent, parent)
    ? { kind: 'broadcast', what: offerKind }
    : waits
}

function isOver({ cancellations, release, deadline }: LineRecord, { chainSeconds }: LineFacts): boolean {
  return (
    cancellations.length > 0 || release === 'refused' || (deadline !== undefined && chainSeconds > deadline)
  )
}
