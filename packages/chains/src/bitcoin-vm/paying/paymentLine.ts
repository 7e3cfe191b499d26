import {
  type BitcoinTransaction,
  type Hex,
  type LineStep,
  type LineWallet,
  type OutPoint,
  paymentTag,
  readLineStep,
  tagText,
} from '@causeway/core'
import type { PaymentState } from '../../family/payingChain.ts'

/** A transaction by its id, its bytes hashed; `undefined` where nobody shows it. */
export type ReadTransaction = (transactionId: string) => Promise<BitcoinTransaction | undefined>

type Place = LineStep & { readonly depth: number }

const textOf = ({ txid, vout }: OutPoint): string => `${txid}:${vout}`

/**
 * The transactions of a wallet's line as far as they were read, all branches of it. What is kept is proven by hashes
 * down to the first output, so that it does not matter who showed it.
 */
export function createPaymentLine(wallet: LineWallet, first: OutPoint) {
  const steps = new Map<string, LineStep>()
  const places = new Map<string, Place>()
  /** Outputs that are none of the line's, whatever they pay. */
  const strays = new Set<string>()
  const tagged = new Map<string, Place[]>()
  const isFirst = (place: OutPoint) => textOf(place) === textOf(first)

  function keep(step: LineStep, depth: number): void {
    const place = { ...step, depth }
    places.set(step.hash, place)
    if (step.tag === undefined) return
    const text = tagText(step.tag)
    tagged.set(text, [...(tagged.get(text) ?? []), place])
  }

  function learn(transaction: BitcoinTransaction): LineStep | undefined {
    const step = readLineStep(transaction, wallet)
    if (step !== undefined) steps.set(step.hash, step)
    return step
  }

  /** Whether an output is a place of the line. Reads what is not known yet, back to what is. */
  async function reaches(place: OutPoint, read: ReadTransaction): Promise<boolean | undefined> {
    const unknown: LineStep[] = []
    for (let at = place; ; ) {
      if (isFirst(at)) break
      if (places.has(at.txid) && at.vout === 0) break
      if (strays.has(at.txid) || at.vout !== 0) return forget(unknown)
      const shown = steps.get(at.txid) ?? (await shownStep(at.txid, read))
      if (shown === undefined) return undefined
      if (shown === 'stray') return forget(unknown)
      unknown.push(shown)
      at = shown.parent
    }
    for (const step of unknown.reverse()) keep(step, 1 + (places.get(step.parent.txid)?.depth ?? 0))
    return true
  }

  async function shownStep(txid: string, read: ReadTransaction): Promise<LineStep | 'stray' | undefined> {
    const transaction = await read(txid)
    return transaction === undefined ? undefined : (learn(transaction) ?? 'stray')
  }

  function forget(unknown: readonly LineStep[]): false {
    for (const { hash } of unknown) strays.add(hash)
    return false
  }

  /** Of places that were reached. */
  function isAt(step: Place, place: OutPoint): boolean {
    let at = places.get(place.txid)
    while (at !== undefined && at.depth > step.depth) at = places.get(at.parent.txid)
    return at?.hash === step.hash
  }

  return {
    learn,
    reaches,
    isFirst,
    /** Of a place that was reached; `undefined` for the first one. */
    before: (place: OutPoint): OutPoint | undefined =>
      isFirst(place) ? undefined : places.get(place.txid)?.parent,
    /** What a line says of an id up to a place that was reached: a payment is older than whatever closes it. */
    stateAt(place: OutPoint, id: Hex): PaymentState {
      for (const state of ['paid', 'closed'] as const) {
        const found = tagged.get(tagText(paymentTag(wallet.key, state, id))) ?? []
        if (found.some((step) => isAt(step, place))) return state
      }
      return 'open'
    },
  }
}

export type PaymentLine = ReturnType<typeof createPaymentLine>
