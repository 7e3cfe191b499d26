import { type Hex, maxBigint, minBigint } from '@causeway/core'
import type {
  ContractPayingChain,
  NonceCounts,
  PlannedTransaction,
  SignedTransaction,
} from '@causeway/families'
import { type EthereumFees, firstBid, type GasBid, replacementBid } from '@causeway/families/rules'
import { type CostBound, type DeskWork, GasCoinShortError, type Refusal, requireFees } from './chainDesk.ts'
import {
  type DeskStrategy,
  openRecords,
  type Sight,
  type SignedAgain,
  type SignFirst,
} from './deskStrategy.ts'
import { closingTransaction, fillTransaction } from './fillTransaction.ts'
import type { OfferKind } from './move.ts'
import { type BumpRules, nextMove } from './nextMove.ts'
import type { Records } from './records.ts'
import { type KeptRecord, newest, type SignedRecord } from './signedRecord.ts'

export type NonceOptions = {
  readonly paying: ContractPayingChain
  readonly fillContract: Hex
  readonly records: Pick<Records, 'active'>
  /** Current fees of the network, from the market; undefined while it knows none. */
  readonly marketFees: () => EthereumFees | undefined
  readonly rules: BumpRules & { readonly transactionGasMax: bigint }
  readonly nowMs: () => number
}

type NonceSight = Sight & { readonly usedNonces: number; readonly counts: NonceCounts }

/** Strategy of a chain whose transactions have nonces: of all transactions that are ever signed for one nonce, one is mined. */
export class NonceStrategy implements DeskStrategy<NonceSight> {
  readonly chainId: number
  readonly address: Hex
  readonly isOrdered = true
  readonly cancelsByNonce = true
  readonly #options: NonceOptions
  #waitingSinceMs: number | undefined

  constructor(options: NonceOptions) {
    this.chainId = options.paying.chainId
    this.address = options.paying.address
    this.#options = options
  }

  readonly waitingSinceMs = (): number | undefined => this.#waitingSinceMs

  async chainTime(): Promise<number> {
    return (await this.#options.paying.counts()).chainTime
  }

  async usedNonces(): Promise<number> {
    return (await this.#options.paying.counts()).latestCount
  }

  async look(): Promise<NonceSight> {
    const counts = await this.#options.paying.counts()
    const { latestCount: usedNonces } = counts
    const open = await openRecords(this.#options.records, this, usedNonces)
    // Records are ordered by nonce, so the first unmined one is the oldest.
    const unmined = open.find(({ nonce, outcome }) => outcome === 'open' && nonce >= usedNonces)
    this.#waitingSinceMs = unmined?.transactions[0]?.signedAtMs
    return { open, usedNonces, counts }
  }

  async judge(kept: KeptRecord, { counts }: NonceSight) {
    const record = requireNonced(kept)
    const { paying, nowMs, rules } = this.#options
    const { mined, cancelled } = await paying.minedOf(record, counts)
    const facts = { ...counts, mined, cancelled, nowMs: nowMs() }
    return { move: nextMove(record, facts, rules), minedHash: mined?.hash }
  }

  async plan(work: DeskWork): Promise<SignFirst | Refusal> {
    const { paying, rules } = this.#options
    const transaction = this.#transactionOf(work)
    const bid = firstBid(this.#market().gasPrice, rules.maxFeePerGasWei)
    const affordableGas = this.#affordableGasOf('bound' in work ? work.bound : undefined)
    const limits = { transactionGasMax: rules.transactionGasMax, affordableGas }
    const trial = await paying.tryOut(transaction, bid, limits)
    switch (trial.kind) {
      case 'succeeds':
        return this.#signs({ ...transaction, gas: trial.gas }, bid)
      case 'fails':
        return { kind: 'refused', reason: trial.reason }
      case 'dear': {
        const reason = `it takes ${trial.gas} gas, more than ${affordableGas}`
        return { kind: 'refused', isDear: true, reason }
      }
      case 'short':
        throw new GasCoinShortError(this.chainId)
    }
  }

  /**
   * Signs the record's first cancellation, or replaces the newest of its transactions or of its cancellations
   * by one with a higher bid. All have the record's nonce, so one of them at most is mined. Where the ceiling
   * allows no higher bid, nothing is signed, and the newest stays `standing`, to be sent again.
   */
  async signAgain(kept: KeptRecord, offerKind: OfferKind): Promise<SignedAgain> {
    const record = requireNonced(kept)
    const { paying, rules } = this.#options
    const { nonce, plan, transactions, cancellations } = record
    const replaced = newest(offerKind === 'cancellation' ? cancellations : transactions)
    // A record always has a transaction.
    if (replaced === undefined) return this.#signFirstCancellation(record)
    const market = this.#market().gasPrice
    const raised = replacementBid(replaced, market, rules.maxFeePerGasWei)
    if (raised === undefined) return { standing: replaced }
    const { signed: offer, gas } =
      offerKind === 'cancellation'
        ? await paying.signCancellation(nonce, raised)
        : { signed: await paying.sign({ ...plan, nonce }, raised), gas: plan.gas }
    const changed: SignedRecord =
      offerKind === 'cancellation'
        ? { ...record, cancellations: [...cancellations, offer] }
        : { ...record, transactions: [...transactions, offer] }
    // Reserved so far: the cost of the record's newest transaction, or that of the replaced offer if it is
    // higher.
    const transactionCost = (newest(transactions)?.maxFeePerGasWei ?? 0n) * plan.gas
    const reserved = maxBigint(transactionCost, replaced.maxFeePerGasWei * gas)
    const extraCost = maxBigint(0n, raised.maxFeePerGasWei * gas - reserved)
    return { signed: { record: changed, offer, extraCost, event: 'record_bumped' }, standing: replaced }
  }

  async #signFirstCancellation(record: SignedRecord): Promise<SignedAgain> {
    const { paying, rules } = this.#options
    const { nonce, transactions } = record
    const marketBid = firstBid(this.#market().gasPrice, rules.maxFeePerGasWei)
    // It replaces the last transaction at nodes, so it bids more than that if the ceiling allows.
    const last = newest(transactions)
    const raised = (last && replacementBid(last, marketBid, rules.maxFeePerGasWei)) ?? marketBid
    const { signed: offer } = await paying.signCancellation(nonce, raised)
    const cancelled = { ...record, cancellations: [offer] }
    // No budget holds it up: it takes less gas than the record's transaction, whose reserved cost covers it.
    return { signed: { record: cancelled, offer, extraCost: 0n, event: 'record_cancelling' } }
  }

  broadcast(offer: Pick<SignedTransaction, 'raw'>): Promise<void> {
    return this.#options.paying.broadcast(offer)
  }

  #market(): EthereumFees {
    return requireFees(this.#options.marketFees(), this.chainId)
  }

  /** Signs with the nonce that the new record gets. */
  #signs({ gas, ...plan }: PlannedTransaction & { readonly gas: bigint }, bid: GasBid): SignFirst {
    return async (unsigned) => {
      const { nonce } = unsigned
      const signed = await this.#options.paying.sign({ ...plan, gas, nonce }, bid)
      const record: SignedRecord = {
        ...unsigned,
        wallet: this.address,
        plan: { ...plan, gas },
        transactions: [signed],
        cancellations: [],
      }
      return { record, cost: bid.maxFeePerGasWei * gas }
    }
  }

  /** The most gas that costs no more than the bound, at the price that the next block should have. */
  #affordableGasOf(bound: CostBound | undefined): bigint {
    const { transactionGasMax } = this.#options.rules
    if (bound === undefined) return transactionGasMax
    const { most, transaction } = bound
    const market = this.#market()
    const remainingWei = maxBigint(0n, most - market.besideGasOf(transaction))
    return minBigint(transactionGasMax, remainingWei / maxBigint(1n, market.gasPrice.expectedWei))
  }

  #transactionOf(work: DeskWork): PlannedTransaction {
    switch (work.kind) {
      case 'payment':
        return fillTransaction(work.order, { id: work.id, filler: this.address })
      case 'closing':
        return closingTransaction(work.fillContract ?? this.#options.fillContract, work.id)
      case 'relay':
        return work.transaction
      case 'sweep':
      case 'emptying':
      case 'allowance':
        throw new Error('contracts of this chain sweep, and its inventory allows by itself')
    }
  }
}

/** Narrows a record to one with a nonce. @throws Error for a record of a chain of another kind, which is a bug */
function requireNonced(record: KeptRecord): SignedRecord {
  if ('plan' in record) return record
  throw new Error(`${record.id} was signed for a chain without nonces`)
}
