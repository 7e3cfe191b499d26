import type { Hex } from '@causeway/core'
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
  type Refusal,
  type Replacement,
  type Subject,
} from './chainDesk.ts'
import { isToldAbout, type Move, type OfferKind, sendable } from './move.ts'
import type { Records } from './records.ts'
import { type KeptRecord, newest } from './signedRecord.ts'

/** A signed transaction or cancellation of a record. */
export type Offer = { readonly raw: Hex; readonly hash: string }

/** A record before anything is signed for it. */
export type UnsignedRecord = Pick<
  KeptRecord,
  Exclude<keyof KeptRecord, 'transactions' | 'wallet' | 'toldHash' | 'tellingHash'>
>

/** Signs the first transaction of a record. `cost`: the most that it may take, in smallest units of the native coin. */
export type SignFirst = (
  record: UnsignedRecord,
) => Promise<{ readonly record: KeptRecord; readonly cost: bigint }>

/** Outcome of signing a record's content again, or a cancellation of it. */
export type SignedAgain = {
  /** Present if something was signed; absent where limits allow no higher price. */
  readonly signed?: {
    /** The record with the new transaction in it. */
    readonly record: KeptRecord
    readonly offer: Offer
    /** Cost beyond the reserved amount. */
    readonly more: bigint
    readonly event: 'record_bumped' | 'record_renewed' | 'record_cancelling'
  }
  /** Transaction that is sent again if there is no new one, or its cost fits no budget. */
  readonly standing?: Offer | undefined
  /** True if another transaction has marked the record's id: the record is at its end. */
  readonly isLost?: boolean
}

/** State of a chain's records that are not at their end, from one look at the chain. Strategies add what they need. */
export type Sight = {
  /** Records that are not at their end, by number. */
  readonly open: readonly KeptRecord[]
  /** Nonces below are used; `undefined` where a chain has none. */
  readonly usedNonces: number | undefined
}

/**
 * The rules by which kinds of chains differ: what orders transactions, how they expire, how they are signed again. One of
 * `NonceStrategy`, `ExpiringStrategy` and `LineStrategy`. @source docs/internals/payments.md
 */
export type DeskStrategy<Seen extends Sight> = {
  readonly chainId: number
  /** Address of the fill wallet, in canonical spelling. */
  readonly address: string
  /**
   * True if a record holds up those behind it: then they are looked at one after the other, and the budget of fills pays a
   * higher price where a record's own budget does not.
   */
  readonly isOrdered: boolean
  /**
   * True if a signed cancellation is all that stops a record. Otherwise the record is also kept as refused, because a
   * cancellation may be impossible, or not yet possible.
   */
  readonly cancelsByNonce: boolean
  chainTime(): Promise<number>
  /** Has the work tried. @returns what signs it, or why nothing does @throws as `ChainDesk.prepare` */
  plan(work: DeskWork): Promise<SignFirst | Refusal>
  /** Nonces below are used; `undefined` where a chain has none. @throws DomainError where too few endpoints answer */
  usedNonces(): Promise<number | undefined>
  /** Reads the chain and the open records. */
  look(): Promise<Seen>
  /** @returns the next move, and the hash of the record's transaction that a block has */
  judge(
    record: KeptRecord,
    sight: Seen,
  ): Promise<{ readonly move: Move; readonly minedHash: string | undefined }>
  /** Signs the content again, or a cancellation. @param sight absent: the strategy looks by itself where it has to */
  signAgain(record: KeptRecord, offerKind: OfferKind, sight?: Seen): Promise<SignedAgain>
  /** Sends bytes again and again at no harm. @throws NodeError, NeverTakenError, DomainError */
  broadcast(offer: Offer): Promise<void>
  /** Time since which the oldest unmined transaction waits, in Unix ms, by the last look. */
  waitingSinceMs?: () => number | undefined
  /** Next transaction of the wallet for itself, if any. */
  chore?(): Promise<Chore | undefined>
}

/** A transaction of the wallet for itself, ready to be signed. */
export type Chore = { readonly sign: SignFirst; readonly subject: Subject }

export type DeskOptions = {
  readonly records: Records
  readonly leadership: () => Leadership | undefined
  readonly rules: GasBudgets
  readonly log: (event: string, record: KeptRecord, more?: object) => void
}

/**
 * The desk of one chain. It keeps each transaction before it reports it, reports it before it sends it, and sends it again
 * until its record is at its end. So after a kill the next process goes on from what was kept.
 * @source docs/internals/payments.md
 */
export class PaymentDesk<Seen extends Sight> implements ChainDesk {
  readonly chainId: number
  readonly address: string
  readonly waitingSinceMs: (() => number | undefined) | undefined
  readonly #strategy: DeskStrategy<Seen>
  readonly #options: DeskOptions
  /** By record: hash of its transaction that a block had at the last look. */
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
      const { chainId, address } = this
      const { records, rules, log } = this.#options
      const { fence } = this.#leadership()
      const { id, kind, orderId, deadline, payments = [], deposits = [], charges = [] } = subject
      const { record, cost } = await sign({
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
        release: isToldAbout(subject) ? 'asked' : 'given',
        outcome: 'open',
        failureReported: false,
      })
      await records.begin(record, {
        charges: [...gasCharges(chainId, subject, cost, rules), ...charges],
        past: subject.past ?? [],
        exposure: subject.exposure,
        fence,
      })
      log('record_signed', record, { hash: newestOffer(record)?.hash })
      return record
    })
  }

  async release(record: KeptRecord, release: 'given' | 'refused'): Promise<void> {
    if (release === 'refused') return this.#refuse(record)
    const told = newestOffer(record)
    const decided: KeptRecord = { ...record, release, ...(told && { toldHash: told.hash }) }
    await this.#save(decided)
    if (told !== undefined) await this.#send(decided, told)
  }

  cancel(record: KeptRecord): Promise<void> {
    return this.#strategy.cancelsByNonce ? this.#signCancellation(record) : this.#refuse(record)
  }

  async advance(): Promise<readonly KeptRecord[]> {
    this.#leadership()
    const sight = await this.#inTurn(() => this.#strategy.look())
    if (this.#strategy.isOrdered) for (const record of sight.open) await this.#stepAlone(record, sight)
    else await Promise.all(sight.open.map((record) => this.#stepAlone(record, sight)))
    await this.#beginChore()
    return this.#open(sight.usedNonces)
  }

  markTold(record: KeptRecord): Promise<void> {
    return this.#save({ ...record, failureReported: true })
  }

  async replaced(): Promise<readonly Replacement[]> {
    return (await this.#open(await this.#strategy.usedNonces())).flatMap((record): readonly Replacement[] => {
      if (record.release !== 'given' || !isToldAbout(record)) return []
      const mined = this.#minedHashes.get(keyOf(record))
      // A report whose answer was lost is repeated first: the next report has to name the hash that it replaces.
      const hash = record.tellingHash ?? mined ?? newestOffer(record)?.hash
      const isMined = mined !== undefined && hash === mined
      const isTold = hash === record.toldHash && record.tellingHash === undefined
      return hash === undefined || isTold ? [] : [{ record, hash, isMined }]
    })
  }

  async beginTelling({ record, hash }: Replacement): Promise<KeptRecord> {
    if (record.tellingHash === hash) return record
    const markedRecord: KeptRecord = { ...record, tellingHash: hash }
    await this.#save(markedRecord)
    return markedRecord
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
    if (signed === undefined || !(await this.#keepRaised(signed.record, signed.more)))
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
    return this.#inTurn(async () => {
      const refused: KeptRecord = { ...record, release: 'refused' }
      await this.#save(refused)
      await this.#signCancellation(refused)
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

/** Records of a wallet on a chain that are not at their end. */
export const openRecords = (
  records: Pick<Records, 'active'>,
  { address, chainId }: { readonly address: string; readonly chainId: number },
  usedNonces = Number.MAX_SAFE_INTEGER,
): Promise<readonly KeptRecord[]> => records.active(address, chainId, usedNonces)

const keyOf = ({ id, attempt }: KeptRecord): string => `${id} ${attempt}`

const offersOf = (record: KeptRecord, offerKind: OfferKind): readonly Offer[] =>
  offerKind === 'transaction' ? record.transactions : 'cancellations' in record ? record.cancellations : []

const newestOffer = (record: KeptRecord, offerKind: OfferKind = 'transaction'): Offer | undefined =>
  newest(offersOf(record, offerKind))
