import { randomUUID } from 'node:crypto'
import { maxBigint } from '@causeway/core'
import { AlreadyMarkedError, type LineInputs, type LinePayingChain, type LineWork } from '@causeway/families'
import { feeAt, lineFee, unminedMax } from '@causeway/families/rules'
import { type DeskWork, LineBusyError, NoGasPriceError, type Refusal, requireFees } from './chainDesk.ts'
import { heldBy, keptWork, ownLine, spentBy, workFor } from './lineWork.ts'
import type { Offered } from './move.ts'
import {
  isSamePlace,
  type LineOffer,
  nextLineMove,
  type PlacedLine,
  type PlacedRecord,
  placeLine,
} from './nextLineMove.ts'
import {
  type Chore,
  type DeskStrategy,
  type Offer,
  openRecords,
  type Sight,
  type SignedAgain,
  type SignFirst,
} from './paymentDesk.ts'
import type { Records } from './records.ts'
import { type KeptRecord, type LineRecord, newest } from './signedRecord.ts'

export type LineOptions = {
  readonly chainId: number
  readonly paying: LinePayingChain
  readonly records: Pick<Records, 'active'>
  /** Current fee rate of the network from the market, in satoshi per 1,000 virtual bytes. */
  readonly marketFees: () => bigint | undefined
  readonly rules: {
    readonly maxFeePerGasWei: bigint
    readonly bumpAfterMs: number
    /** Other coins are gathered while the market is no dearer; absent: where a payment lacks them alone. */
    readonly gatherBelow?: bigint | undefined
  }
  readonly nowMs: () => number
}

type LineSight = Sight & PlacedLine & { readonly chainSeconds: number }
type Bid = Pick<PlacedRecord, 'before'> & {
  readonly replaced?: bigint
  readonly dropped?: readonly bigint[]
}

/** Virtual bytes of one more input. */
const inputBytes = 68
/** Coins of one transaction at most; more wait for the next one. */
const gatheredMax = 50
const gatherPauseMs = 600_000

/**
 * A chain on which every transaction of the fill wallet stands behind another one, and names what it pays. One record
 * at a time is between being kept and being sent; up to twenty wait for a block.
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
    return (await this.#options.paying.look([])).chainSeconds
  }

  async usedNonces(): Promise<undefined> {}

  async look(): Promise<LineSight> {
    const open = await this.#open()
    if (open.length > 0) return this.#place(open)
    return { open, usedNonces: undefined, chainSeconds: 0, placed: [], unmined: [], end: undefined }
  }

  /** Balance at the end of the line, once everything signed is mined. */
  async left(): Promise<bigint> {
    const { kept } = this.#options.paying
    const { end } = await this.#standing()
    return end === undefined || end.value < kept ? 0n : end.value - kept
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
    const refusal = typeof work === 'string' ? work : paying.refuse(work)
    if (typeof work === 'string' || refusal !== undefined) return { kind: 'refused', reason: refusal ?? '' }
    const { end } = await this.#standing()
    if (end !== undefined && work.mark !== undefined) {
      const state = await paying.stateAt(end, work.mark.id)
      if (state !== 'open') return { kind: 'refused', reason: `the wallet's line says that it is ${state}` }
    }
    return this.#signs(work)
  }

  async signAgain(kept: KeptRecord, offerKind: Offered, sight?: LineSight): Promise<SignedAgain> {
    const { placed } = sight ?? (await this.#standing())
    const index = indexOf(kept, placed)
    const one = placed[index]
    if (one?.parent === undefined || one.mined !== undefined) return {}
    const { record, parent, before } = one
    const { transactions, cancellations } = record
    const offers = [...transactions, ...cancellations]
    const last = newest(offerKind === 'cancellation' ? cancellations : transactions)
    const standing = last !== undefined && isSamePlace(last.parent, parent) ? last : undefined
    const here = offers.filter((offer) => isSamePlace(offer.parent, parent)).map(({ fee }) => fee)
    const bid = { before, ...(here.length > 0 && { replaced: here.reduce(maxBigint) }) }
    const dropped = placed.slice(index + 1).flatMap((behind) => newestOf(behind.record)?.fee ?? [])
    const gathered = newest(transactions)?.gathered ?? []
    try {
      const offer =
        offerKind === 'cancellation'
          ? await this.#sign({ payments: [] }, { parent, gathered: [] }, { ...bid, dropped })
          : await this.#sign(record.line, { parent, gathered }, bid)
      if (offer === undefined) return { standing }
      const changed: LineRecord =
        offerKind === 'cancellation'
          ? { ...record, cancellations: [...cancellations, offer] }
          : { ...record, transactions: [...transactions, offer] }
      const more = maxBigint(0n, offer.fee - offers.map(({ fee }) => fee).reduce(maxBigint, 0n))
      const event = standing === undefined ? 'record_renewed' : 'record_bumped'
      return { signed: { record: changed, offer, more, event }, standing }
    } catch (error) {
      const id = record.line.mark?.id
      if (!(error instanceof AlreadyMarkedError) || id === undefined) throw error
      // The line has this id already: a transaction unknown to this record paid or closed it.
      return { isLost: (await this.#options.paying.readFinal(id)).state !== 'open', standing }
    }
  }

  broadcast({ raw }: Pick<Offer, 'raw'>): Promise<void> {
    return this.#options.paying.broadcast(raw)
  }

  /** Gathers while the market is cheap, and once in ten minutes. */
  async chore(): Promise<Chore | undefined> {
    const { marketFees, rules, nowMs } = this.#options
    const price = marketFees()
    if (rules.gatherBelow === undefined || price === undefined || price > rules.gatherBelow) return undefined
    if (nowMs() - this.#gatheredAtMs < gatherPauseMs) return undefined
    return this.gathering()
  }

  /** Takes the wallet's other coins into the line, where there are some that are worth their fee. */
  async gathering(): Promise<Chore | undefined> {
    const { paying, nowMs } = this.#options
    this.#gatheredAtMs = nowMs()
    const price = this.#price()
    const { placed } = await this.#standing()
    if (placed.some(({ record }) => record.kind === 'chore')) return undefined
    const gathered = (await paying.besideLine())
      .filter(({ value }) => value > feeAt(price, inputBytes))
      .sort((one, other) => (one.value < other.value ? 1 : -1))
      .slice(0, gatheredMax)
    if (gathered.length === 0) return undefined
    const id = `gather-${this.chainId}-${randomUUID()}`
    return { sign: this.#signs({ payments: [] }, gathered), subject: { id, kind: 'chore' } }
  }

  async #open(): Promise<readonly LineRecord[]> {
    return (await openRecords(this.#options.records, this)).map(ownLine)
  }

  async #standing(): Promise<LineSight> {
    return this.#place(await this.#open())
  }

  async #place(open: readonly LineRecord[]): Promise<LineSight> {
    const { paying } = this.#options
    const offers = open.flatMap(({ transactions, cancellations }) => [...transactions, ...cancellations])
    paying.learn(offers.map(({ raw }) => raw))
    const view = await paying.look(offers.map(({ hash }) => hash))
    return { open, usedNonces: undefined, chainSeconds: view.chainSeconds, ...placeLine(open, view) }
  }

  #price(): bigint {
    return requireFees(this.#options.marketFees(), this.chainId)
  }

  #signs(work: LineWork, gathered: LineInputs['gathered'] = []): SignFirst {
    return async (unsigned) => {
      const { end, unmined } = await this.#standing()
      if (end === undefined || unmined.length >= unminedMax) throw new LineBusyError(this.chainId)
      const offer = await this.#sign(work, { parent: end, gathered }, { before: unmined })
      if (offer === undefined) throw new NoGasPriceError(this.chainId)
      const record: LineRecord = {
        ...{ ...unsigned, wallet: this.address, line: keptWork(work) },
        ...{ transactions: [offer], cancellations: [] },
      }
      return { record, cost: offer.fee }
    }
  }

  /** @returns undefined where the ceiling, or what the line holds, does not allow what nodes ask */
  async #sign(
    work: LineWork,
    inputs: LineInputs,
    { before, replaced, dropped = [] }: Bid,
  ): Promise<LineOffer | undefined> {
    const { paying, rules, nowMs } = this.#options
    const virtualBytes = paying.sizeOf(work, inputs)
    const price = { satPerKvb: this.#price(), ceiling: rules.maxFeePerGasWei }
    const fee = lineFee({ virtualBytes, before, replaced, dropped, ...price })
    if (fee === undefined || fee + spentBy(work) + paying.kept > heldBy(inputs)) return undefined
    const { raw, hash, left } = await paying.sign(work, inputs, fee)
    const gathered = [...inputs.gathered]
    return { raw, hash, left, parent: inputs.parent, gathered, fee, virtualBytes, signedAtMs: nowMs() }
  }
}

const indexOf = ({ id, attempt }: KeptRecord, placed: readonly PlacedRecord[]): number =>
  placed.findIndex(({ record }) => record.id === id && record.attempt === attempt)

const newestOf = ({ transactions, cancellations }: LineRecord): LineOffer | undefined =>
  newest([...transactions, ...cancellations])
