import { randomUUID } from 'node:crypto'
import { maxBigint } from '@causeway/core'
import { AlreadyMarkedError, type LineInputs, type LinePayingChain, type LineWork } from '@causeway/families'
import { feeAt, lineFee, unminedMax } from '@causeway/families/rules'
import { type DeskWork, LineBusyError, NoGasPriceError, type Refusal, requireFees } from './chainDesk.ts'
import {
  type Chore,
  type DeskStrategy,
  type Offer,
  openRecords,
  type Sight,
  type SignedAgain,
  type SignFirst,
} from './deskStrategy.ts'
import { heldBy, keptWork, ownLine, spentBy, workFor } from './lineWork.ts'
import type { OfferKind } from './move.ts'
import {
  isSamePlace,
  type LineOffer,
  nextLineMove,
  type PlacedLine,
  type PlacedRecord,
  placeLine,
} from './nextLineMove.ts'
import type { Records } from './records.ts'
import { type KeptRecord, type LineRecord, newest } from './signedRecord.ts'

export type LineOptions = {
  readonly chainId: number
  readonly paying: LinePayingChain
  readonly records: Pick<Records, 'active'>
  /** Current fee rate of the network from the market, in satoshi per 1,000 virtual bytes. */
  readonly marketFees: () => bigint | undefined
  readonly rules: {
    /** Highest fee rate that is bid; on such a chain in satoshi per 1,000 virtual bytes. */
    readonly maxFeePerGasWei: bigint
    readonly bumpAfterMs: number
    /** Outputs beside the line are gathered at rates up to this; absent: only when a payment lacks them. */
    readonly gatherBelow?: bigint | undefined
  }
  readonly nowMs: () => number
}

type LineSight = Sight & PlacedLine & { readonly chainSeconds: number }
/** Facts on which a fee depends beside size and price. `before`: unmined transactions before it in the line. */
type Bid = Pick<PlacedRecord, 'before'> & {
  /** Highest fee of the transactions that it replaces; absent if none spends its place yet. */
  readonly replaced?: bigint
  /** Fees of transactions behind a replaced one, which nodes drop with it. */
  readonly dropped?: readonly bigint[]
}

/** Virtual bytes of one more input of the wallet. */
const inputBytes = 68
/** Most outputs that one transaction gathers; more wait for the next one. */
const gatheredMax = 50
const gatherPauseMs = 600_000

/**
 * Strategy of a chain on which every transaction of the fill wallet spends an output of the one before, and
 * names what it pays. One record at a time may be kept and not sent; up to twenty sent ones wait for a block.
 * `placeLine` finds the place of each record anew at every look, because a transaction that is signed again
 * moves all places behind it.
 */
export class LineStrategy implements DeskStrategy<LineSight> {
  readonly chainId: number
  readonly address: string
  readonly isOrdered = true
  readonly cancelsByNonce = false
  readonly #options: LineOptions
  #gatheredAtMs = Number.NEGATIVE_INFINITY

  constructor(options: LineOptions) {
    this.chainId = options.chainId
    this.address = options.paying.address
    this.#options = options
  }

  async chainTime(): Promise<number> {
    // No transaction is asked about.
    return (await this.#options.paying.look([])).chainSeconds
  }

  async usedNonces(): Promise<undefined> {}

  async look(): Promise<LineSight> {
    const open = await this.#open()
    if (open.length > 0) return this.#place(open)
    // Nothing is judged by this look, so the chain is not read for it.
    return { open, usedNonces: undefined, chainSeconds: 0, placed: [], unmined: [], end: undefined }
  }

  /** Amount that can still be paid: the output at the end of the line, once everything signed is mined, less what is kept. */
  async left(): Promise<bigint> {
    const { keptSatoshi } = this.#options.paying
    const { end } = await this.#readLine()
    return end === undefined ? 0n : maxBigint(0n, end.value - keptSatoshi)
  }

  async judge(record: KeptRecord, { placed, chainSeconds }: LineSight) {
    const { nowMs, rules } = this.#options
    const index = indexOf(record, placed)
    const one = placed[index]
    if (one === undefined) throw new Error(`${record.id} stands nowhere in its line`)
    const isLast = index === placed.length - 1
    const facts = { chainSeconds, nowMs: nowMs(), bumpAfterMs: rules.bumpAfterMs, isLast }
    const minedHash = one.mined?.what === 'transaction' ? one.mined.offer.hash : undefined
    return { move: nextLineMove(one, facts), minedHash }
  }

  async plan(deskWork: DeskWork): Promise<SignFirst | Refusal> {
    const { paying } = this.#options
    const work = workFor(deskWork, paying.currency)
    if (typeof work === 'string') return { kind: 'refused', reason: work }
    const refusal = paying.refuse(work)
    if (refusal !== undefined) return { kind: 'refused', reason: refusal }
    const { end } = await this.#readLine()
    // A line without an end is busy: `#signs` then throws, so nothing has to be checked.
    if (end !== undefined && work.mark !== undefined) {
      const state = await paying.stateAt(end, work.mark.id)
      if (state !== 'open') return { kind: 'refused', reason: `the wallet's line says that it is ${state}` }
    }
    return this.#signs(work)
  }

  /**
   * Signs for the place that the record has now. If its newest offer of that kind spends the same place, that
   * offer is `standing` and the new one replaces it for a higher fee (`record_bumped`). Else the new one is
   * the first of its kind at this place (`record_renewed`), a first cancellation among them; `nextLineMove`
   * tells why an offer at another place does no harm.
   */
  async signAgain(kept: KeptRecord, offerKind: OfferKind, sight?: LineSight): Promise<SignedAgain> {
    const { placed } = sight ?? (await this.#readLine())
    const index = indexOf(kept, placed)
    const one = placed[index]
    // Nothing is signed for a record without a place in the line, or one that a block has.
    if (one?.parent === undefined || one.mined !== undefined) return {}
    const { record, parent } = one
    const last = newest(offerKind === 'cancellation' ? record.cancellations : record.transactions)
    const standing = last !== undefined && isSamePlace(last.parent, parent) ? last : undefined
    try {
      const offer = await this.#signOffer({ ...one, parent }, offerKind, placed.slice(index + 1))
      if (offer === undefined) return { standing }
      const changed: LineRecord =
        offerKind === 'cancellation'
          ? { ...record, cancellations: [...record.cancellations, offer] }
          : { ...record, transactions: [...record.transactions, offer] }
      // At most one of a record's offers is ever mined, so the highest fee of any is what is reserved.
      const highestFee = offersOf(record).reduce((most, { fee }) => maxBigint(most, fee), 0n)
      const extraCost = maxBigint(0n, offer.fee - highestFee)
      const event = standing === undefined ? 'record_renewed' : 'record_bumped'
      return { signed: { record: changed, offer, extraCost, event }, standing }
    } catch (error) {
      const id = record.line.mark?.id
      if (!(error instanceof AlreadyMarkedError) || id === undefined) throw error
      // Another transaction of the line names this id: the record is at its end once that is final.
      return { isLost: (await this.#options.paying.readFinal(id)).state !== 'open', standing }
    }
  }

  /** Signs a record's content, or a cancellation, for its present place in the line. @param behind records after it */
  #signOffer(
    { record, parent, before }: PlacedRecord & Pick<LineInputs, 'parent'>,
    offerKind: OfferKind,
    behind: readonly PlacedRecord[],
  ): Promise<LineOffer | undefined> {
    const feesAtPlace = offersOf(record)
      .filter((offer) => isSamePlace(offer.parent, parent))
      .map(({ fee }) => fee)
    const bid = { before, ...(feesAtPlace.length > 0 && { replaced: feesAtPlace.reduce(maxBigint) }) }
    if (offerKind === 'transaction') {
      // Only the line's last transaction is signed for more at its place, so nothing is dropped with it.
      const gathered = newest(record.transactions)?.gathered ?? []
      return this.#sign(record.line, { parent, gathered }, bid)
    }
    // Nodes drop what spends a replaced transaction, and ask for its fees on top.
    const dropped = behind.flatMap((one) => newest(offersOf(one.record))?.fee ?? [])
    return this.#sign({ payments: [] }, { parent, gathered: [] }, { ...bid, dropped })
  }

  broadcast({ raw }: Pick<Offer, 'raw'>): Promise<void> {
    return this.#options.paying.broadcast(raw)
  }

  /** Gathers the wallet's other outputs while fees are low, once in ten minutes at most. */
  async chore(): Promise<Chore | undefined> {
    const { marketFees, rules, nowMs } = this.#options
    const price = marketFees()
    if (rules.gatherBelow === undefined || price === undefined || price > rules.gatherBelow) return undefined
    if (nowMs() - this.#gatheredAtMs < gatherPauseMs) return undefined
    return this.gathering()
  }

  /** Prepares a transaction that takes the wallet's other outputs into the line; undefined if none is worth its fee. */
  async gathering(): Promise<Chore | undefined> {
    const { paying, nowMs } = this.#options
    this.#gatheredAtMs = nowMs()
    const price = this.#price()
    const { placed } = await this.#readLine()
    if (placed.some(({ record }) => record.kind === 'chore')) return undefined
    const gathered = (await paying.readOutputsBesideLine())
      .filter(({ value }) => value > feeAt(price, inputBytes))
      .sort((one, other) => (one.value < other.value ? 1 : -1))
      .slice(0, gatheredMax)
    if (gathered.length === 0) return undefined
    const id = `gather-${this.chainId}-${randomUUID()}`
    return { sign: this.#signs({ payments: [] }, gathered), subject: { id, kind: 'chore' } }
  }

  /** Records that are not at their end, in the order of the line. */
  async #open(): Promise<readonly LineRecord[]> {
    return (await openRecords(this.#options.records, this)).map(ownLine)
  }

  async #readLine(): Promise<LineSight> {
    return this.#place(await this.#open())
  }

  /** Reads the chain and finds the place of each record. */
  async #place(open: readonly LineRecord[]): Promise<LineSight> {
    const { paying } = this.#options
    const offers = open.flatMap(offersOf)
    // A restarted process has to know its own unmined transactions before it reads the line.
    paying.learn(offers.map(({ raw }) => raw))
    const view = await paying.look(offers.map(({ hash }) => hash))
    return { open, usedNonces: undefined, chainSeconds: view.chainSeconds, ...placeLine(open, view) }
  }

  #price(): bigint {
    return requireFees(this.#options.marketFees(), this.chainId)
  }

  /**
   * Signs at the end of the line as it is then, not as `plan` saw it: desks run this one record at a time, so
   * that no two take the same place.
   */
  #signs(work: LineWork, gathered: LineInputs['gathered'] = []): SignFirst {
    return async (unsigned) => {
      const { end, unmined } = await this.#readLine()
      if (end === undefined || unmined.length >= unminedMax) throw new LineBusyError(this.chainId)
      const offer = await this.#sign(work, { parent: end, gathered }, { before: unmined })
      if (offer === undefined) throw new NoGasPriceError(this.chainId)
      const record: LineRecord = {
        ...unsigned,
        wallet: this.address,
        line: keptWork(work),
        transactions: [offer],
        cancellations: [],
      }
      return { record, cost: offer.fee }
    }
  }

  /** @returns undefined if the fee that nodes ask for is above the ceiling, or above what the inputs hold */
  async #sign(
    work: LineWork,
    inputs: LineInputs,
    { before, replaced, dropped = [] }: Bid,
  ): Promise<LineOffer | undefined> {
    const { paying, rules, nowMs } = this.#options
    const virtualBytes = paying.virtualBytesOf(work, inputs)
    const price = { satPerKvb: this.#price(), ceilingSatPerKvb: rules.maxFeePerGasWei }
    const fee = lineFee({ virtualBytes, before, replaced, dropped, ...price })
    if (fee === undefined || fee + spentBy(work) + paying.keptSatoshi > heldBy(inputs)) return undefined
    const { raw, hash, left } = await paying.sign(work, inputs, fee)
    const gathered = [...inputs.gathered]
    return { raw, hash, left, parent: inputs.parent, gathered, fee, virtualBytes, signedAtMs: nowMs() }
  }
}

const indexOf = ({ id, attempt }: KeptRecord, placed: readonly PlacedRecord[]): number =>
  placed.findIndex(({ record }) => record.id === id && record.attempt === attempt)

const offersOf = ({ transactions, cancellations }: LineRecord): readonly LineOffer[] => [
  ...transactions,
  ...cancellations,
]
