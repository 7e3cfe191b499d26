import {
  AlreadyMarkedError,
  type LineInputs,
  type LinePayingChain,
  type LineWork,
  NodeError,
} from '@causeway/chains'
import { type GasBudgets, lineFee, maxBigint, type OwnOutput, unminedMax } from '@causeway/core'
import type { Leadership } from '@causeway/database'
import {
  type ChainDesk,
  createDeskRights,
  gasCharges,
  keepRaised,
  LineBusyError,
  NoGasPriceError,
  type Subject,
} from './chainDesk.ts'
import { createLineGathering } from './lineGathering.ts'
import { heldBy, keptWork, ownLine as own, spentBy, workFor } from './lineWork.ts'
import { isSamePlace, type LineOffer, nextLineMove, type PlacedRecord, placeLine } from './nextLineMove.ts'
import { isToldAbout } from './nextMove.ts'
import type { Records } from './records.ts'
import { type KeptRecord, type LineRecord, newest } from './signedRecord.ts'
import { createTelling } from './telling.ts'

/** A desk of a chain whose coins are outputs, and what it holds. */
export type LineDesk = ChainDesk & {
  /** What the line has at its end, once everything that was signed is mined. */
  left(): Promise<bigint>
  /** Takes the wallet's other coins into the line, where there are some that are worth their fee. */
  gather(): Promise<void>
}

export type LineDeskOptions = {
  readonly chainId: number
  readonly paying: LinePayingChain
  readonly records: Records
  readonly leadership: () => Leadership | undefined
  /** What the market says the network charges now; satoshi per 1,000 virtual bytes. */
  readonly marketFees: () => bigint | undefined
  readonly rules: GasBudgets & {
    readonly maxFeePerGasWei: bigint
    readonly bumpAfterMs: number
    /** Other coins are gathered while the market is no dearer; absent: where a payment lacks them alone. */
    readonly gatherBelow?: bigint | undefined
  }
  readonly nowMs: () => number
  readonly log: (event: string, record: LineRecord, more?: object) => void
}

/**
 * A chain on which every transaction of the fill wallet stands behind another one, and names what it pays. One record
 * at a time is between being kept and being sent; up to twenty wait for a block.
 */
export function createLineDesk(options: LineDeskOptions): LineDesk {
  const { chainId, paying, records, rules, nowMs, log } = options
  const { address } = paying
  const minedHashes = new Map<string, string>()
  const keyOf = ({ id, attempt }: KeptRecord) => `${id} ${attempt}`
  const active = async () => (await records.active(address, chainId, Number.MAX_SAFE_INTEGER)).map(own)
  const { leadership, fees, inTurn } = createDeskRights(chainId, options)

  async function standing() {
    const open = await active()
    const offers = open.flatMap(({ transactions, cancellations }) => [...transactions, ...cancellations])
    paying.learn(offers.map(({ raw }) => raw))
    const view = await paying.look(offers.map(({ hash }) => hash))
    return { ...placeLine(open, view), view }
  }

  type Bid = Pick<PlacedRecord, 'before'> & {
    readonly replaced?: bigint
    readonly dropped?: readonly bigint[]
  }

  /** @returns undefined where the ceiling, or what the line holds, does not allow what nodes ask */
  async function signed(
    work: LineWork,
    inputs: LineInputs,
    { before, replaced, dropped = [] }: Bid,
  ): Promise<LineOffer | undefined> {
    const virtualBytes = paying.sizeOf(work, inputs)
    const price = { satPerKvb: fees(), ceiling: rules.maxFeePerGasWei }
    const fee = lineFee({ virtualBytes, before, replaced, dropped, ...price })
    if (fee === undefined || fee + spentBy(work) + paying.kept > heldBy(inputs)) return undefined
    const { raw, hash, left } = await paying.sign(work, inputs, fee)
    const gathered = [...inputs.gathered]
    return { raw, hash, left, parent: inputs.parent, gathered, fee, virtualBytes, signedAtMs: nowMs() }
  }

  async function step(one: PlacedRecord, behind: readonly PlacedRecord[], chainSeconds: number) {
    const { record, mined } = one
    if (mined?.what === 'transaction') minedHashes.set(keyOf(record), mined.offer.hash)
    else minedHashes.delete(keyOf(record))
    const isLast = behind.length === 0
    const facts = { chainSeconds, nowMs: nowMs(), bumpAfterMs: rules.bumpAfterMs, isLast }
    const move = nextLineMove(one, facts)
    switch (move.kind) {
      case 'wait':
        return
      case 'settle':
        return settle(record, move.outcome, move.cost)
      case 'broadcast':
        return send(record, move.offer)
      case 'sign':
        return signAnew(one, move.what, behind)
    }
  }

  async function settle(record: LineRecord, outcome: LineRecord['outcome'], costWei: bigint): Promise<void> {
    minedHashes.delete(keyOf(record))
    log('record_settled', record, { outcome })
    return records.save({ ...record, outcome }, leadership().fence, { costWei })
  }

  /** Kept before it is sent, and told to the service before that. Where it cannot be, the last offer stands. */
  async function signAnew(
    { record, parent, before }: PlacedRecord,
    what: 'transaction' | 'cancellation',
    behind: readonly PlacedRecord[],
  ): Promise<void> {
    if (parent === undefined) return
    const offers = [...record.transactions, ...record.cancellations]
    const last = newest(what === 'cancellation' ? record.cancellations : record.transactions)
    const here = offers.filter((offer) => isSamePlace(offer.parent, parent)).map(({ fee }) => fee)
    const replaced = here.length === 0 ? {} : { replaced: here.reduce(maxBigint) }
    const dropped = behind.flatMap(
      (one) => newest([...one.record.transactions, ...one.record.cancellations])?.fee ?? [],
    )
    const work = what === 'cancellation' ? { payments: [] } : record.line
    const gathered = what === 'cancellation' ? [] : (newest(record.transactions)?.gathered ?? [])
    const offer = await signedUnlessMarked(record, () =>
      signed(
        work,
        { parent, gathered },
        { before, ...replaced, dropped: what === 'cancellation' ? dropped : [] },
      ),
    )
    const stands = last !== undefined && isSamePlace(last.parent, parent) ? last : undefined
    if (offer === undefined) return stands && send(record, stands)
    const more = offer.fee - offers.map(({ fee }) => fee).reduce(maxBigint, 0n)
    const changed: LineRecord =
      what === 'cancellation'
        ? { ...record, cancellations: [...record.cancellations, offer] }
        : { ...record, transactions: [...record.transactions, offer] }
    const costs = { records, leadership, rules }
    if (!(await keepRaised(changed, more > 0n ? more : 0n, costs))) return stands && send(record, stands)
    log(stands === undefined ? 'record_renewed' : 'record_bumped', record, { what, hash: offer.hash })
    if (what === 'cancellation' || !isToldAbout(record)) await send(record, offer)
  }

  /** What the line names already is paid, or closed, by a transaction that this record knows nothing of. */
  async function signedUnlessMarked(
    record: LineRecord,
    sign: () => Promise<LineOffer | undefined>,
  ): Promise<LineOffer | undefined> {
    try {
      return await sign()
    } catch (error) {
      const id = record.line.mark?.id
      if (!(error instanceof AlreadyMarkedError) || id === undefined) throw error
      if ((await paying.readFinal(id)).state !== 'open') await settle(record, 'lost', 0n)
      return undefined
    }
  }

  /** What one of them runs into keeps none of the others. */
  async function stepAlone(...asked: Parameters<typeof step>): Promise<void> {
    try {
      await step(...asked)
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      log('record_not_advanced', asked[0].record, { reason })
    }
  }

  /** What nodes refuse now they may take later. */
  async function send(record: LineRecord, { raw }: LineOffer): Promise<void> {
    try {
      await paying.broadcast(raw)
    } catch (error) {
      if (!(error instanceof NodeError)) throw error
      log('record_not_taken', record, { reason: error.message })
    }
  }

  const begin = (
    work: LineWork,
    subject: Subject,
    gathered: readonly OwnOutput[] = [],
  ): Promise<LineRecord> =>
    inTurn(async () => {
      const { fence } = leadership()
      const { end, unmined } = await standing()
      if (end === undefined || unmined.length >= unminedMax) throw new LineBusyError(chainId)
      const offer = await signed(work, { parent: end, gathered }, { before: unmined })
      if (offer === undefined) throw new NoGasPriceError(chainId)
      const { id, kind, orderId, deadline, payments = [], deposits = [], charges = [] } = subject
      const record: LineRecord = {
        ...{ id, kind, chainId, wallet: address },
        attempt: ((await records.latest(id))?.attempt ?? -1) + 1,
        nonce: await records.nextNonce(address, chainId, 0),
        ...(orderId !== undefined && { orderId }),
        ...(deadline !== undefined && { deadline }),
        ...(subject.isUnderpaid === true && { isUnderpaid: true }),
        line: keptWork(work),
        ...{ transactions: [offer], cancellations: [], payments, deposits: [...deposits] },
        release: isToldAbout(subject) ? 'asked' : 'given',
        ...{ outcome: 'open', failureReported: false },
      }
      await records.begin(record, {
        charges: [...gasCharges(chainId, subject, offer.fee, rules), ...charges],
        ...{ past: subject.past ?? [], exposure: subject.exposure },
        fence,
      })
      log('record_signed', record, { hash: offer.hash })
      return record
    })

  /** Its place goes to a transaction that pays nothing, at once where that can be. */
  const cancel = (record: LineRecord): Promise<void> =>
    inTurn(async () => {
      await records.save({ ...record, release: 'refused' }, leadership().fence)
      const { placed } = await standing()
      const index = placed.findIndex((one) => keyOf(one.record) === keyOf(record))
      const one = placed[index]
      if (one !== undefined && one.mined === undefined && one.record.cancellations.length === 0)
        await signAnew(one, 'cancellation', placed.slice(index + 1))
    })

  const { gather, gatherWhileCheap } = createLineGathering({
    ...{ chainId, paying, fees, standing, begin, nowMs },
    ...{ marketFees: options.marketFees, gatherBelow: rules.gatherBelow },
  })

  return {
    ...{ chainId, address, gather },
    leads: () => options.leadership() !== undefined,
    chainTime: async () => (await paying.look([])).chainSeconds,
    async left() {
      const { end } = await standing()
      return end === undefined || end.value < paying.kept ? 0n : end.value - paying.kept
    },
    async prepare(asked) {
      const work = workFor(asked, paying.currency)
      const refusal = typeof work === 'string' ? work : paying.refuse(work)
      if (typeof work === 'string' || refusal !== undefined) return { kind: 'refused', reason: refusal ?? '' }
      const { end } = await standing()
      if (end !== undefined && work.mark !== undefined) {
        const state = await paying.stateAt(end, work.mark.id)
        if (state !== 'open') return { kind: 'refused', reason: `the wallet's line says that it is ${state}` }
      }
      return { kind: 'ready', begin: (subject) => begin(work, subject) }
    },
    cancel: (record) => cancel(own(record)),
    async release(kept, release) {
      const record = own(kept)
      if (release === 'refused') return cancel(record)
      const told = newest(record.transactions)
      const decided: LineRecord = { ...record, release, ...(told && { toldHash: told.hash }) }
      await records.save(decided, leadership().fence)
      if (told !== undefined) await send(decided, told)
    },
    async advance() {
      leadership()
      if ((await active()).length > 0) {
        const { placed, view } = await inTurn(standing)
        for (const [index, one] of placed.entries())
          await stepAlone(one, placed.slice(index + 1), view.chainSeconds)
      }
      await gatherWhileCheap()
      return active()
    },
    ...createTelling({
      active,
      minedHash: (record) => minedHashes.get(keyOf(record)),
      save: (record) => records.save(record, leadership().fence),
      async send(kept, hash) {
        const record = own(kept)
        const offer = record.transactions.find((one) => one.hash === hash)
        if (offer !== undefined && record.cancellations.length === 0) await send(record, offer)
      },
    }),
  }
}
