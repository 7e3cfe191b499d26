import { sha256TextHex } from '@causeway/core'
import type { Landing, PayingChain, PayingFees, PaymentTerms } from '@causeway/families'
import type { NetworkFees } from '@causeway/families/rules'
import { type DeskWork, type Refusal, requireFees } from './chainDesk.ts'
import {
  type DeskStrategy,
  type Offer,
  openRecords,
  type Sight,
  type SignedAgain,
  type SignFirst,
} from './deskStrategy.ts'
import type { OfferKind } from './move.ts'
import { hasExpired, nextExpiringMove } from './nextExpiringMove.ts'
import type { Records } from './records.ts'
import { type ExpiringRecord, type KeptRecord, newest } from './signedRecord.ts'

export type ExpiringOptions = {
  readonly chainId: number
  readonly paying: PayingChain
  readonly landsWithinSeconds: number
  readonly records: Pick<Records, 'active'>
  /** Current fees of the network, from the market. */
  readonly marketFees: () => NetworkFees | undefined
  readonly maxFeePerGasWei: bigint
  readonly nowMs: () => number
}

/** Transactions of a record that nodes are asked about at once, the newest ones. Older ones expired before those were signed. */
const hashesMax = 100

type Planned = Pick<ExpiringRecord, 'terms' | 'units' | 'rent'>
/** `chainTime`: Unix seconds of the head; 0 where nothing is open, and so nothing depends on it. */
type ExpiringSight = Sight & { readonly chainTime: number }

/**
 * Strategy of a chain without nonces, where each transaction marks what it pays or closes: of all that is
 * ever signed for one id, one at most has an effect. So a record may be signed again as often as its time
 * allows, by whatever process. `judge` first asks for a transaction that landed, which decides once it is
 * final. While none has landed and one still may, the newest is sent again. Once all have expired at a final
 * block, it reads the state of the id: an `open` id is signed again while there is time, any other ends the
 * record.
 *
 * An allowance leaves no mark, and a later one of an equal amount has the same id, which is always `open`. It
 * needs no mark: it pays nobody, each landing sets the same value, and a currency has one open record at
 * once.
 */
export class ExpiringStrategy implements DeskStrategy<ExpiringSight> {
  readonly chainId: number
  readonly address: string
  readonly isOrdered = false
  readonly cancelsByNonce = false
  readonly #options: ExpiringOptions

  constructor(options: ExpiringOptions) {
    this.chainId = options.chainId
    this.address = options.paying.address
    this.#options = options
  }

  async chainTime(): Promise<number> {
    return (await this.#options.paying.head()).timeSeconds
  }

  async usedNonces(): Promise<undefined> {}

  async look(): Promise<ExpiringSight> {
    const open = await openRecords(this.#options.records, this)
    return { open, usedNonces: undefined, chainTime: open.length === 0 ? 0 : await this.chainTime() }
  }

  async judge(kept: KeptRecord, { chainTime }: ExpiringSight) {
    const record = requireExpiring(kept)
    const { paying, landsWithinSeconds } = this.#options
    const { terms, transactions } = record
    const landing = await paying.landingOf(transactions.slice(-hashesMax))
    const state = isOver(record, landing) ? (await paying.readFinal(terms.id, terms)).state : undefined
    const move = nextExpiringMove(record, { landing, state, chainTime, landsWithinSeconds })
    return { move, minedHash: landing.kind === 'landed' ? landing.hash : undefined }
  }

  async plan(work: DeskWork): Promise<SignFirst | Refusal> {
    const terms = termsOf(work)
    if (typeof terms === 'string') return { kind: 'refused', reason: terms }
    const most = 'bound' in work ? work.bound?.most : undefined
    const plan = await this.#options.paying.plan(terms, this.#bid(), most)
    if ('refusal' in plan) {
      const { refusal: reason, isDear } = plan
      return { kind: 'refused', reason, ...(isDear && { isDear }) }
    }
    const { units, rent } = plan
    const planned = { terms: { ...plan.terms, payments: [...plan.terms.payments] }, units, rent }
    return async (unsigned) => {
      const transaction = await this.#sign(planned)
      const record = { ...unsigned, ...planned, wallet: this.address, transactions: [transaction] }
      return { record, cost: transaction.fee + rent }
    }
  }

  async signAgain(kept: KeptRecord, offerKind: OfferKind): Promise<SignedAgain> {
    // Nothing is signed to cancel: such a record ends by its expiry.
    if (offerKind === 'cancellation') return {}
    const record = requireExpiring(kept)
    const offer = await this.#sign(record)
    const extraCost = offer.fee - (newest(record.transactions)?.fee ?? 0n)
    const renewed = { ...record, transactions: [...record.transactions, offer] }
    return { signed: { record: renewed, offer, extraCost, event: 'record_renewed' } }
  }

  broadcast(offer: Pick<Offer, 'raw'>): Promise<void> {
    return this.#options.paying.broadcast(offer)
  }

  #bid(): PayingFees {
    const { marketFees, maxFeePerGasWei: ceiling } = this.#options
    return { fees: requireFees(marketFees(), this.chainId), ceiling }
  }

  async #sign(planned: Planned): Promise<ExpiringRecord['transactions'][number]> {
    const { paying, nowMs } = this.#options
    return { ...(await paying.sign(planned, this.#bid())), signedAtMs: nowMs() }
  }
}

/** True if no transaction of the record landed or can land any more. */
const isOver = (record: ExpiringRecord, landing: Landing): boolean =>
  landing.kind === 'none' && hasExpired(record, landing.finalHeight)

/** Narrows a record to one that expires. @throws Error for a record of a chain of another kind, which is a bug */
function requireExpiring(record: KeptRecord): ExpiringRecord {
  if ('terms' in record) return record
  throw new Error(`${record.id} was signed for a chain with nonces`)
}

/** @returns what a transaction has to do; or, as text, why such a chain cannot do it */
function termsOf(work: DeskWork): PaymentTerms | string {
  switch (work.kind) {
    case 'payment': {
      const { kind, orderId, calls, payments, deadline } = work.order
      if (calls.length > 0) return 'calls are not run on this chain'
      // A fill's price contained the rent of accounts that it creates; a refund's or a claim's did not.
      return {
        id: work.id,
        mark: 'paid',
        orderId,
        makesNoState: kind !== 'fill',
        payments,
        deadlineSeconds: deadline,
      }
    }
    case 'closing':
      return { id: work.id, mark: 'closed', payments: [] }
    case 'emptying':
      return { id: work.id, mark: 'paid', payments: [], emptied: work.emptied }
    case 'allowance': {
      const { allowance } = work
      // Nothing marks this id, so the allowance is signed again until one transaction lands.
      const id = sha256TextHex(`allowance ${allowance.currency} ${allowance.amount}`)
      return { id, mark: 'allowed', allowance, payments: [] }
    }
    case 'sweep':
    case 'relay':
      return 'nothing is relayed on this chain'
  }
}
