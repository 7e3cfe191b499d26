import type { ChainQuestion } from '@causeway/rpc'
import { MalformedAnswerError, reachedBy } from '@causeway/rpc'
import type { SeenTransaction } from '../reading/bitcoinView.ts'
import { type Confirmations, finalHeight } from '../reading/finality.ts'
import type { LineWallet, OwnOutput } from '../rules/paying/lineTransaction.ts'
import type { OutPoint } from '../rules/transaction.ts'
import type { BitcoinPayingView } from './payingViews.ts'
import type { PaymentLine } from './paymentLine.ts'

/** A wallet's line as enough endpoints report it, and the values derived from it. */
export type LineReading = {
  /** The newest place that a block has and none has spent; `undefined` where it is none of those asked for. */
  readonly tip: OwnOutput | undefined
  readonly finalTip: OutPoint | undefined
  readonly mined: ReadonlyMap<string, { readonly isFinal: boolean }>
  readonly finalSeconds: number
  readonly chainSeconds: number
}

/** Terms of a reading that are the same for every question. */
export type LineTerms = {
  readonly threshold: number
  readonly confirmations: Confirmations
  readonly wallet: LineWallet
  readonly line: PaymentLine
  readonly nowMs: () => number
}

type Heads = { readonly tipHeight: bigint; readonly tipSeconds: bigint }
type Pin = { readonly height: bigint; readonly chainSeconds: bigint }
type Question<First extends Heads, Facts> = Omit<
  ChainQuestion<First, Pin, Facts, BitcoinPayingView>,
  'signal'
>

/** @param asked.places where the line may stand, and what may have been mined of it */
export function lineQuestion(
  terms: LineTerms & { readonly places: readonly OutPoint[] },
): Question<Heads & { readonly seen: readonly (SeenTransaction | undefined)[] }, LineReading> {
  const { places, line, nowMs } = terms
  return {
    async first(view, signal) {
      const [heads, transactions] = await Promise.all([
        readHeads(view, signal),
        Promise.all(places.map(({ txid }) => view.readTransaction(txid, signal))),
      ])
      return { ...heads, seen: transactions }
    },
    pin: pinBy(terms),
    async second(view, { seen: transactions }, { height, chainSeconds }, signal) {
      const read = async (txid: string) => (await view.readTransaction(txid, signal))?.transaction
      const heightOf = async (one: SeenTransaction | undefined) =>
        one && (await view.readBlockOf(one, signal))?.height
      const heights = await Promise.all(transactions.map(heightOf))
      const mined = new Map<string, { readonly isFinal: boolean }>()
      let tip: OwnOutput | undefined
      for (const [index, place] of places.entries()) {
        const [one, minedAt] = [transactions[index], heights[index]]
        if (one === undefined || minedAt === undefined) continue
        mined.set(place.txid, { isFinal: minedAt <= height })
        if ((await view.readSpending(place, signal)).kind === 'spent') continue
        const output = one.transaction.outputs[place.vout]
        if (output === undefined || Buffer.compare(output.script, terms.wallet.script) !== 0) continue
        const isReached = await line.reaches(place, read)
        // An endpoint that does not show the whole line cannot prove its end.
        if (isReached === undefined) throw new MalformedAnswerError('line of transactions')
        if (isReached) tip = { ...place, value: output.value }
      }
      let finalTip: OutPoint | undefined = tip
      while (finalTip !== undefined) {
        const minedAt = await heightOf(await view.readTransaction(finalTip.txid, signal))
        if (minedAt !== undefined && minedAt <= height) break
        finalTip = line.before(finalTip)
      }
      const finalSeconds = height < 0n ? 0n : await view.readBlockTime(height, signal)
      return {
        kind: 'final',
        facts: {
          ...{ tip, finalTip, mined, finalSeconds: Number(finalSeconds) },
          // Blocks may be late, and the next one has a later time than the newest.
          chainSeconds: Math.max(Number(chainSeconds), Math.floor(nowMs() / 1_000)),
        },
      }
    },
    key: ({ tip, finalTip, mined, finalSeconds }) =>
      JSON.stringify([
        ...[tip?.txid, tip?.vout, finalTip?.txid, finalTip?.vout, finalSeconds],
        ...[...mined].map(([hash, { isFinal }]) => `${hash} ${isFinal}`).sort(),
      ]),
  }
}

/** Asks for the value of an output of a script, if the output is final and unspent. */
export function besideQuestion(
  terms: Pick<LineTerms, 'threshold' | 'confirmations'> & {
    readonly output: OutPoint
    readonly script: Uint8Array
  },
): Question<Heads, { readonly value: bigint | undefined }> {
  const { output, script } = terms
  return {
    first: readHeads,
    pin: pinBy(terms),
    async second(view, _own, { height }, signal) {
      const transaction = await view.readTransaction(output.txid, signal)
      const block = transaction && (await view.readBlockOf(transaction, signal))
      const paid = transaction?.transaction.outputs[output.vout]
      const isOwn = paid !== undefined && Buffer.compare(paid.script, script) === 0
      const isFinal = block !== undefined && block.height <= height
      const isUnspent = isOwn && isFinal && (await view.readSpending(output, signal)).kind === 'unspent'
      return { kind: 'final', facts: { value: isUnspent ? paid.value : undefined } }
    },
    key: ({ value }) => String(value),
  }
}

async function readHeads(view: BitcoinPayingView, signal: AbortSignal): Promise<Heads> {
  const tipHeight = await view.readTipHeight(signal)
  return { tipHeight, tipSeconds: await view.readBlockTime(tipHeight, signal) }
}

/** The height that enough endpoints have final, and the time that enough of them have reached. */
const pinBy =
  ({ threshold, confirmations }: Pick<LineTerms, 'threshold' | 'confirmations'>) =>
  (heads: readonly Heads[]): Pin => ({
    height: finalHeight(
      reachedBy(
        threshold,
        heads.map(({ tipHeight }) => tipHeight),
      ),
      confirmations,
    ),
    chainSeconds: reachedBy(
      threshold,
      heads.map(({ tipSeconds }) => tipSeconds),
    ),
  })
