import type { Hex } from '@causeway/core'
import type { PaymentState } from '../../shared/payingChain.ts'
import { type LineStep, type LineWallet, readLineStep } from '../rules/paying/lineTransaction.ts'
import { paymentTag, tagText } from '../rules/paying/paymentTag.ts'
import { type BitcoinTransaction, type OutPoint, outPointText } from '../rules/transaction.ts'

/** Reads a transaction and checks that its bytes hash to the id; `undefined` if no endpoint has it. */
export type ReadTransaction = (transactionId: string) => Promise<BitcoinTransaction | undefined>

/** A step that was followed back to the first output; `depth`: number of transactions from there. */
type ReachedStep = LineStep & { readonly depth: number }

/**
 * Memory of a wallet's line of payments, from which the state of each payment id is read. It holds the transactions
 * that were read so far, in all branches, because unconfirmed ones may exclude each other. Each is proven by hashes back
 * to the first output, so any endpoint may have shown it. A place of the line is the first output of one of its
 * transactions, or the output that it begins with.
 */
export class PaymentLine {
  readonly #wallet: LineWallet
  readonly #first: OutPoint
  /** Steps that were read, by transaction id; not all of them were followed back. */
  readonly #steps = new Map<string, LineStep>()
  /** Steps that were followed back to the first output, by transaction id. */
  readonly #reachedSteps = new Map<string, ReachedStep>()
  /** Ids of transactions that do not belong to the line. */
  readonly #strays = new Set<string>()
  /** Steps that were followed back, by the text of their tag. */
  readonly #tagged = new Map<string, ReachedStep[]>()

  constructor(wallet: LineWallet, first: OutPoint) {
    this.#wallet = wallet
    this.#first = first
  }

  /** Remembers a transaction; `undefined` if it continues no line of the wallet. */
  learn(transaction: BitcoinTransaction): LineStep | undefined {
    const step = readLineStep(transaction, this.#wallet)
    if (step !== undefined) this.#steps.set(step.hash, step)
    return step
  }

  /**
   * True if an output is a place of the line, `undefined` if a transaction is missing. Follows unknown transactions
   * back, from each to the output that it spends first, until it meets a known place.
   */
  async reaches(place: OutPoint, read: ReadTransaction): Promise<boolean | undefined> {
    const unknown: LineStep[] = []
    let current = place
    while (!this.#isFirst(current)) {
      if (this.#reachedSteps.has(current.txid) && current.vout === 0) break
      // Steps that begin at another output than a first one are strays; its transaction may be of the line.
      if (this.#strays.has(current.txid) || current.vout !== 0) return this.#markAsStrays(unknown)
      const step = this.#steps.get(current.txid) ?? (await this.#readStep(current.txid, read))
      if (step === undefined) return undefined
      if (step === 'stray') return this.#markAsStrays(unknown)
      unknown.push(step)
      current = step.parent
    }
    // The oldest is kept first, so that a step's parent has its depth. The first place, of no step, has 0.
    for (const step of unknown.reverse())
      this.#keep(step, 1 + (this.#reachedSteps.get(step.parent.txid)?.depth ?? 0))
    return true
  }

  /** Place before a reached one; `undefined` for the first place. */
  before(place: OutPoint): OutPoint | undefined {
    return this.#isFirst(place) ? undefined : this.#reachedSteps.get(place.txid)?.parent
  }

  /**
   * State of an id up to a place for which `reaches` was true; for any other it would say `open`. A payment
   * takes precedence, because it is older than any closing.
   */
  stateAt(place: OutPoint, id: Hex): PaymentState {
    for (const state of ['paid', 'closed'] as const) {
      const steps = this.#tagged.get(tagText(paymentTag(this.#wallet.key, state, id))) ?? []
      if (steps.some((step) => this.#isOnWayTo(step, place))) return state
    }
    return 'open'
  }

  #isFirst(place: OutPoint): boolean {
    return outPointText(place) === outPointText(this.#first)
  }

  async #readStep(txid: string, read: ReadTransaction): Promise<LineStep | 'stray' | undefined> {
    const transaction = await read(txid)
    return transaction === undefined ? undefined : (this.learn(transaction) ?? 'stray')
  }

  #keep(step: LineStep, depth: number): void {
    const reached = { ...step, depth }
    this.#reachedSteps.set(step.hash, reached)
    if (step.tag === undefined) return
    const text = tagText(step.tag)
    this.#tagged.set(text, [...(this.#tagged.get(text) ?? []), reached])
  }

  #markAsStrays(unknown: readonly LineStep[]): false {
    for (const { hash } of unknown) this.#strays.add(hash)
    return false
  }

  /** True if a step lies on the way to `place`. Both must have been reached. */
  #isOnWayTo(step: ReachedStep, place: OutPoint): boolean {
    let current = this.#reachedSteps.get(place.txid)
    while (current !== undefined && current.depth > step.depth)
      current = this.#reachedSteps.get(current.parent.txid)
    return current?.hash === step.hash
  }
}
