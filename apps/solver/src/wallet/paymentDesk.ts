import type { GasBudgets } from '@causeway/core/config'
import type { Leadership } from '@causeway/database'
import { NeverTakenError } from '@causeway/families'
import { NodeError } from '@causeway/rpc'
import { BudgetSpentError } from './budgets.ts'
import {
  type ChainDesk,
  type DeskWork,
  gasCharges,
  isPassing,
  NotLeadingError,
  type Preparation,
  type Replacement,
  type Subject,
} from './chainDesk.ts'
import {
  type Chore,
  type DeskStrategy,
  type Offer,
  openRecords,
  type Sight,
  type UnsignedRecord,
} from './deskStrategy.ts'
import { isToldAbout, type OfferKind, sendable } from './move.ts'
import type { Records } from './records.ts'
import { type KeptRecord, newest } from './signedRecord.ts'

export type DeskOptions = {
  readonly records: Records
  /** This process's lease of the wallet on the chain; undefined while another process has it. */
  readonly leadership: () => Leadership | undefined
  readonly rules: GasBudgets
  readonly log: (event: string, record: KeptRecord, more?: object) => void
}

/**
 * The desk of one chain. It keeps each transaction before it reports it, reports it before it sends it, and
 * sends it again until its record is at its end. So after a kill the next process goes on from what was kept.
 *
 * A round of `SolverRound` calls `advance`, then `release` for each record that is still `asked`, then
 * `replaced` and, for each of its results, `beginTelling` and `releaseReplacement`: one after the other,
 * because each saves the whole record that it was given. Work items, which follow side by side, begin new
 * records and cancel; new ones are begun in turn.
 *
 * The service is told each transaction of a work item's record: `release` is its answer to the first report,
 * `toldHash` the one hash that it follows and that may be sent, `tellingHash` a newer one whose report has no
 * answer yet. It knows no chores and closings: their newest transaction is sent.
 * @source docs/internals/payments.md
 */
export class PaymentDesk<Seen extends Sight> implements ChainDesk {
  readonly chainId: number
  readonly address: string
  readonly waitingSinceMs: (() => number | undefined) | undefined
  readonly #strategy: DeskStrategy<Seen>
  readonly #options: DeskOptions
  /** By record: hash of its transaction that a block had at the last look. Not kept: a look finds it again. */
  readonly #minedHashes = new Map<string, string>()
  /** End of the work that `#inTurn` began last. */
  #last: Promise<unknown> = Promise.resolve()

  constructor(strategy: DeskStrategy<Seen>, options: DeskOptions) {
    this.chainId = strategy.chainId
    this.address = strategy.address
    this.waitingSinceMs = strategy.waitingSinceMs
    this.#strategy = strategy
    this.#options = options
  }

  readonly leads = (): boolean => this.#options.leadership() !== undefined

  chainTime(): Promise<number> {
    return this.#strategy.chainTime()
  }

  async prepare(work: DeskWork): Promise<Preparation> {
    const planned = await this.#strategy.plan(work)
    if ('kind' in planned) return planned
    return { kind: 'ready', begin: (subject) => this.begin({ sign: planned, subject }) }
  }

  /** Signs a record and keeps it with its charges. @throws as `Preparation` */
  begin({ sign, subject }: Chore): Promise<KeptRecord> {
    return this.#inTurn(async () => {
      const { records, rules, log } = this.#options
      const { fence } = this.#leadership()
      const { record, cost } = await sign(await this.#unsignedRecord(subject))
      await records.begin(record, {
        charges: [...gasCharges(this.chainId, subject, cost, rules), ...(subject.charges ?? [])],
        past: subject.past ?? [],
        exposure: subject.exposure,
        fence,
      })
      log('record_signed', record, { hash: newestOffer(record)?.hash })
      return record
    })
  }

  /** The record of a new attempt, with the next free nonce or number. */
  async #unsignedRecord(subject: Subject): Promise<UnsignedRecord> {
    const { chainId, address } = this
    const { records } = this.#options
    const { id, kind, orderId, deadline, payments = [], deposits = [] } = subject
    return {
      id,
      kind,
      chainId,
      attempt: ((await records.latest(id))?.attempt ?? -1) + 1,
      nonce: await records.nextNonce(address, chainId, (await this.#strategy.usedNonces()) ?? 0),
      ...(orderId !== undefined && { orderId }),
      ...(deadline !== undefined && { deadline }),
      ...(subject.isUnderpaid === true && { isUnderpaid: true }),
      payments,
      deposits: [...deposits],
      // The service knows no chores and closings, so it is not asked about them.
      release: isToldAbout(subject) ? 'asked' : 'given',
      outcome: 'open',
      failureReported: false,
    }
  }

  async release(record: KeptRecord, release: 'given' | 'refused'): Promise<void> {
    if (release === 'refused') return this.#refuse(record)
    // Nothing is signed while the service has not answered, so the newest is the one that was reported.
    const reported = newestOffer(record)
    const released: KeptRecord = { ...record, release, ...(reported && { toldHash: reported.hash }) }
    await this.#save(released)
    if (reported !== undefined) await this.#send(released, reported)
  }

  /** With nonces a cancellation is enough; elsewhere none may be possible yet, so a refusal is kept too. */
  cancel(record: KeptRecord): Promise<void> {
    return this.#strategy.cancelsByNonce
      ? this.#onOpen(record, (kept) => this.#signCancellation(kept))
      : this.#refuse(record)
  }

  async advance(): Promise<readonly KeptRecord[]> {
    // Throws unless this process has the lease.
    this.#leadership()
    const sight = await this.#inTurn(() => this.#strategy.look())
    if (this.#strategy.isOrdered) {
      for (const record of sight.open) await this.#stepAlone(record, sight)
    } else await Promise.all(sight.open.map((record) => this.#stepAlone(record, sight)))
    await this.#beginChore()
    return this.#open(sight.usedNonces)
  }

  markTold(record: KeptRecord): Promise<void> {
    return this.#save({ ...record, failureReported: true })
  }

  async replaced(): Promise<readonly Replacement[]> {
    const open = await this.#open(await this.#strategy.usedNonces())
    return open.flatMap((record): readonly Replacement[] => {
      if (record.release !== 'given' || !isToldAbout(record)) return []
      const mined = this.#minedHashes.get(keyOf(record))
      // A report whose answer was lost is repeated first: the next report has to name the hash that it replaces.
      const hash = record.tellingHash ?? mined ?? newestOffer(record)?.hash
      // False while another hash is repeated: the mined one is reported at the next look.
      const isMined = mined !== undefined && hash === mined
      const isTold = hash === record.toldHash && record.tellingHash === undefined
      return hash === undefined || isTold ? [] : [{ record, hash, isMined }]
    })
  }

  async beginTelling({ record, hash }: Replacement): Promise<KeptRecord> {
    if (record.tellingHash === hash) return record
    const reporting: KeptRecord = { ...record, tellingHash: hash }
    await this.#save(reporting)
    return reporting
  }

  async releaseReplacement(
    { record, hash, isMined }: Replacement,
    answer: 'accepted' | 'closed',
  ): Promise<void> {
    const { tellingHash: _reported, ...rest } = record
    // A mined transaction counts whatever the service answers; another one that it refuses is not followed.
    const isTold = answer === 'accepted' || isMined
    const answered: KeptRecord = { ...rest, ...(isTold && { toldHash: hash }) }
    await this.#save(answered)
    const offer = offersOf(record, 'transaction').find((one) => one.hash === hash)
    if (offer === undefined || isMined || answer !== 'accepted') return
    if (newestOffer(record, 'cancellation') === undefined) await this.#send(answered, offer)
  }

  /** @throws NotLeadingError */
  #leadership(): Leadership {
    const leadership = this.#options.leadership()
    if (leadership === undefined) throw new NotLeadingError(this.chainId)
    return leadership
  }

  /** Runs works one after the other, so that two records never get the same nonce or number. */
  #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.#last.then(work, work)
    this.#last = result.catch(() => undefined)
    return result
  }

  #open(usedNonces: number | undefined): Promise<readonly KeptRecord[]> {
    return openRecords(this.#options.records, this.#strategy, usedNonces)
  }

  #save(record: KeptRecord, more?: Parameters<Records['save']>[2]): Promise<void> {
    return this.#options.records.save(record, this.#leadership().fence, more)
  }

  /** Makes one record's next move. Its failure must not stop the others. */
  async #stepAlone(record: KeptRecord, sight: Seen): Promise<void> {
    try {
      await this.#step(record, sight)
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      this.#options.log('record_not_advanced', record, { reason })
    }
  }

  async #step(record: KeptRecord, sight: Seen): Promise<void> {
    const { move, minedHash } = await this.#strategy.judge(record, sight)
    if (minedHash !== undefined) this.#minedHashes.set(keyOf(record), minedHash)
    else this.#minedHashes.delete(keyOf(record))
    switch (move.kind) {
      case 'wait':
        return
      case 'settle':
        return this.#settle(record, move.outcome, move.cost)
      case 'sign':
        return this.#signAgain(record, move.what, sight)
      case 'broadcast': {
        const offers = offersOf(record, move.what)
        const offer = newest(move.what === 'cancellation' ? offers : sendable(record, offers))
        if (offer !== undefined) await this.#send(record, offer)
      }
    }
  }

  #settle(record: KeptRecord, outcome: KeptRecord['outcome'], costWei: bigint | undefined): Promise<void> {
    this.#minedHashes.delete(keyOf(record))
    this.#options.log('record_settled', record, { outcome })
    return this.#save({ ...record, outcome }, { costWei })
  }

  /**
   * Signs again and keeps that. A cancellation, and any transaction of a chore or closing, is then sent; others wait for
   * their report. If nothing could be signed or kept, the last offer is sent again.
   */
  async #signAgain(record: KeptRecord, offerKind: OfferKind, sight?: Seen): Promise<void> {
    const { signed, standing, isLost } = await this.#strategy.signAgain(record, offerKind, sight)
    if (isLost === true) return this.#settle(record, 'lost', 0n)
    if (signed === undefined || !(await this.#keepRaised(signed.record, signed.extraCost)))
      return standing && this.#send(record, standing)
    const { event, offer } = signed
    this.#options.log(event, record, { what: offerKind, hash: offer.hash })
    if (offerKind === 'cancellation' || !isToldAbout(record)) await this.#send(signed.record, offer)
  }

  async #signCancellation(record: KeptRecord): Promise<void> {
    if (newestOffer(record, 'cancellation') === undefined) await this.#signAgain(record, 'cancellation')
  }

  /** Keeps that a record is refused, and signs its first cancellation. */
  #refuse(record: KeptRecord): Promise<void> {
    return this.#onOpen(record, async (kept) => {
      const refused: KeptRecord = { ...kept, release: 'refused' }
      await this.#save(refused)
      await this.#signCancellation(refused)
    })
  }

  /** Works in turn on an open record as it is kept now: items of one order, which run side by side, may change it. */
  #onOpen({ id, attempt }: KeptRecord, work: (kept: KeptRecord) => Promise<void>): Promise<void> {
    return this.#inTurn(async () => {
      const kept = await this.#options.records.latest(id)
      if (kept?.attempt === attempt && kept.outcome === 'open') await work(kept)
    })
  }

  /**
   * Keeps a record that costs more now. If the budget of its kind does not reach, the budget of fills pays on chains where
   * others wait for the record.
   * @returns false if neither budget reaches
   * @throws BudgetSpentError on chains where no record waits for another
   */
  async #keepRaised(changed: KeptRecord, more: bigint): Promise<boolean> {
    const chargesOf = (payer: Pick<KeptRecord, 'kind' | 'isUnderpaid'>) => ({
      charges: gasCharges(this.chainId, payer, more, this.#options.rules),
    })
    if (!this.#strategy.isOrdered) {
      await this.#save(changed, chargesOf(changed))
      return true
    }
    for (const payer of [changed, { kind: 'fill' }] as const) {
      try {
        await this.#save(changed, chargesOf(payer))
        return true
      } catch (error) {
        if (!(error instanceof BudgetSpentError)) throw error
      }
    }
    return false
  }

  /** Sends a transaction. A refusal is logged and tried again; if nodes refuse it for good, a cancellation takes its nonce. */
  async #send(record: KeptRecord, offer: Offer): Promise<void> {
    try {
      await this.#strategy.broadcast(offer)
    } catch (error) {
      if (!(error instanceof NodeError || error instanceof NeverTakenError)) throw error
      this.#options.log('record_not_taken', record, { reason: error.message })
      const isTransaction = offersOf(record, 'transaction').includes(offer)
      if (error instanceof NeverTakenError && isTransaction) await this.#signCancellation(record)
    }
  }

  async #beginChore(): Promise<void> {
    try {
      const chore = await this.#strategy.chore?.()
      if (chore !== undefined) await this.begin(chore)
    } catch (error) {
      if (!isPassing(error)) throw error
    }
  }
}

const keyOf = ({ id, attempt }: KeptRecord): string => `${id} ${attempt}`

const offersOf = (record: KeptRecord, offerKind: OfferKind): readonly Offer[] =>
  offerKind === 'transaction' ? record.transactions : 'cancellations' in record ? record.cancellations : []

const newestOffer = (record: KeptRecord, offerKind: OfferKind = 'transaction'): Offer | undefined =>
  newest(offersOf(record, offerKind))
