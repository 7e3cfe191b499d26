import type { Hex } from '@causeway/core'
import type { PaymentState } from '../../shared/payingChain.ts'
import { type LineStep, type LineWallet, readLineStep } from '../rules/paying/lineTransaction.ts'
import { paymentTag, tagText } from '../rules/paying/paymentTag.ts'
import type { BitcoinTransaction, OutPoint } from '../rules/transaction.ts'

/** A transaction by its id, its bytes hashed; `undefined` where nobody shows it. */
export type ReadTransaction = (transactionId: string) => Promise<BitcoinTransaction | undefined>

type Place = LineStep & { readonly depth: number }

const textOf = ({ txid, vout }: OutPoint): string => `${txid}:${vout}`

/**
 * The transactions of a wallet's line as far as they were read, all branches of it. What is kept is proven by hashes
 * down to the first output, so that it does not matter who showed it.
 */
export class PaymentLine {
  readonly #wallet: LineWallet
  readonly #first: OutPoint
  readonly #steps = new Map<string, LineStep>()
  readonly #places = new Map<string, Place>()
  /** Outputs that are none of the line's, whatever they pay. */
  readonly #strays = new Set<string>()
  readonly #tagged = new Map<string, Place[]>()

  constructor(wallet: LineWallet, first: OutPoint) {
    this.#wallet = wallet
    this.#first = first
  }

  #isFirst(place: OutPoint): boolean {
    return textOf(place) === textOf(this.#first)
  }

  /** Place before a reached one; `undefined` for the first place. */
  before(place: OutPoint): OutPoint | undefined {
    return this.#isFirst(place) ? undefined : this.#places.get(place.txid)?.parent
  }

  /** State of an id up to a reached place. A payment takes precedence, because it is older than any closing. */
  stateAt(place: OutPoint, id: Hex): PaymentState {
    for (const state of ['paid', 'closed'] as const) {
      const steps = this.#tagged.get(tagText(paymentTag(this.#wallet.key, state, id))) ?? []
      if (steps.some((step) => this.#isAt(step, place))) return state
    }
    return 'open'
  }

  #keep(step: LineStep, depth: number): void {
    const place = { ...step, depth }
    this.#places.set(step.hash, place)
    if (step.tag === undefined) return
    const text = tagText(step.tag)
    this.#tagged.set(text, [...(this.#tagged.get(text) ?? []), place])
  }

  learn(transaction: BitcoinTransaction): LineStep | undefined {
    const step = readLineStep(transaction, this.#wallet)
    if (step !== undefined) this.#steps.set(step.hash, step)
    return step
  }

  /**
   * True if an output is a place of the line, `undefined` if a transaction is missing. Reads unknown transactions back
   * to a known place.
   */
  async reaches(place: OutPoint, read: ReadTransaction): Promise<boolean | undefined> {
    const unknown: LineStep[] = []
    for (let at = place; ; ) {
      if (this.#isFirst(at)) break
      if (this.#places.has(at.txid) && at.vout === 0) break
      if (this.#strays.has(at.txid) || at.vout !== 0) return this.#forget(unknown)
      const shown = this.#steps.get(at.txid) ?? (await this.#shownStep(at.txid, read))
      if (shown === undefined) return undefined
      if (shown === 'stray') return this.#forget(unknown)
      unknown.push(shown)
      at = shown.parent
    }
    for (const step of unknown.reverse())
      this.#keep(step, 1 + (this.#places.get(step.parent.txid)?.depth ?? 0))
    return true
  }

  async #shownStep(txid: string, read: ReadTransaction): Promise<LineStep | 'stray' | undefined> {
    const transaction = await read(txid)
    return transaction === undefined ? undefined : (this.learn(transaction) ?? 'stray')
  }

  #forget(unknown: readonly LineStep[]): false {
    for (const { hash } of unknown) this.#strays.add(hash)
    return false
  }

  /** True if a step lies on the way to `place`. Both must have been reached. */
  #isAt(step: Place, place: OutPoint): boolean {
    let at = this.#places.get(place.txid)
    while (at !== undefined && at.depth > step.depth) at = this.#places.get(at.parent.txid)
    return at?.hash === step.hash
  }
}
