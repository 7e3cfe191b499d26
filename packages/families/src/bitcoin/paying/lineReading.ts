import type { ChainQuestion } from '@causeway/rpc'
import { MalformedAnswerError, reachedBy } from '@causeway/rpc'
import type { SeenTransaction } from '../reading/bitcoinView.ts'
import { type Confirmations, finalHeight } from '../reading/finality.ts'
import type { LineWallet, OwnOutput } from '../rules/paying/lineTransaction.ts'
import type { BitcoinTransaction, OutPoint } from '../rules/transaction.ts'
import type { BitcoinPayingView } from './payingViews.ts'
import type { PaymentLine } from './paymentLine.ts'

/**
 * A wallet's line as enough endpoints report it. A place of the line is the first output of one of its transactions, or
 * the output that it begins with.
 */
export type LineReading = {
  /** The newest place that a block has and none has spent; `undefined` if it is none of the requested places. */
  readonly tip: OwnOutput | undefined
  /** The newest place at or before the tip whose block is final. */
  readonly finalTip: OutPoint | undefined
  /** Transactions of the requested places that a block has, by id. */
  readonly mined: ReadonlyMap<string, { readonly isFinal: boolean }>
  /** Unix seconds of the newest final block. */
  readonly finalSeconds: number
  /** Unix seconds that the chain has reached, or this machine's where they are later. */
  readonly chainSeconds: number
}

/** Settings of one wallet's readings. */
export type LineTerms = {
  readonly threshold: number
  readonly confirmations: Confirmations
  readonly wallet: LineWallet
  readonly line: PaymentLine
  readonly nowMs: () => number
}

/** A requested place whose transaction a block has. */
type MinedPlace = {
  readonly place: OutPoint
  readonly transaction: BitcoinTransaction
  /** Height of the block that holds it. */
  readonly height: bigint
}

/** One endpoint's newest block. */
type Heads = { readonly tipHeight: bigint; readonly tipSeconds: bigint }
/** What the second round of all endpoints is read at, derived from their heads by `pinBy`. */
type Pin = { readonly finalHeight: bigint; readonly chainSeconds: bigint }
type Question<First extends Heads, Facts> = Omit<
  ChainQuestion<First, Pin, Facts, BitcoinPayingView>,
  'signal'
>

/**
 * Asks each endpoint for the end of a wallet's line.
 * @param terms.places outputs that may be its end, and those of payments that may have been mined
 */
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
    async second(view, { seen: transactions }, pin, signal) {
      const minedPlaces = await readMined(view, places, transactions, signal)
      const tip = await findTip(view, terms, minedPlaces, signal)
      const finalTip = await findFinalTip(view, line, { tip, finalHeight: pin.finalHeight }, signal)
      const finalSeconds = pin.finalHeight < 0n ? 0n : await view.readBlockTime(pin.finalHeight, signal)
      return {
        kind: 'final',
        facts: {
          tip,
          finalTip,
          finalSeconds: Number(finalSeconds),
          mined: new Map(
            minedPlaces.map(({ place, height }) => [place.txid, { isFinal: height <= pin.finalHeight }]),
          ),
          // Blocks may be late: the next one can have this machine's time.
          chainSeconds: Math.max(Number(pin.chainSeconds), Math.floor(nowMs() / 1_000)),
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

/** Asks each endpoint for the value of an output that pays `script`; `undefined` unless it is final and unspent. */
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
    async second(view, _own, pin, signal) {
      const transaction = await view.readTransaction(output.txid, signal)
      const block = transaction && (await view.readBlockOf(transaction, signal))
      const paid = transaction?.transaction.outputs[output.vout]
      const isOwn = paid !== undefined && Buffer.compare(paid.script, script) === 0
      const isFinal = block !== undefined && block.height <= pin.finalHeight
      const isUnspent = isOwn && isFinal && (await view.readSpending(output, signal)).kind === 'unspent'
      return { kind: 'final', facts: { value: isUnspent ? paid.value : undefined } }
    },
    key: ({ value }) => String(value),
  }
}

/** The places whose transaction a block has, in the order of `places`. */
async function readMined(
  view: BitcoinPayingView,
  places: readonly OutPoint[],
  transactions: readonly (SeenTransaction | undefined)[],
  signal: AbortSignal,
): Promise<readonly MinedPlace[]> {
  const heights = await Promise.all(transactions.map((seen) => heightOf(view, seen, signal)))
  return places.flatMap((place, index) => {
    const [seen, height] = [transactions[index], heights[index]]
    return seen === undefined || height === undefined
      ? []
      : [{ place, transaction: seen.transaction, height }]
  })
}

/** The mined place that belongs to the line and that no transaction has spent: only its end is unspent. */
async function findTip(
  view: BitcoinPayingView,
  { line, wallet }: Pick<LineTerms, 'line' | 'wallet'>,
  minedPlaces: readonly MinedPlace[],
  signal: AbortSignal,
): Promise<OwnOutput | undefined> {
  const read = async (txid: string) => (await view.readTransaction(txid, signal))?.transaction
  let tip: OwnOutput | undefined
  for (const { place, transaction } of minedPlaces) {
    if ((await view.readSpending(place, signal)).kind === 'spent') continue
    const output = transaction.outputs[place.vout]
    if (output === undefined || Buffer.compare(output.script, wallet.script) !== 0) continue
    const isReached = await line.reaches(place, read)
    // An endpoint that does not show the whole line cannot prove its end.
    if (isReached === undefined) throw new MalformedAnswerError('line of transactions')
    if (isReached) tip = { ...place, value: output.value }
  }
  return tip
}

/** The newest place of the line, from its tip back, whose block is final. */
async function findFinalTip(
  view: BitcoinPayingView,
  line: PaymentLine,
  { tip, finalHeight: heightMax }: { readonly tip: OutPoint | undefined; readonly finalHeight: bigint },
  signal: AbortSignal,
): Promise<OutPoint | undefined> {
  for (let place = tip; place !== undefined; place = line.before(place)) {
    const height = await heightOf(view, await view.readTransaction(place.txid, signal), signal)
    if (height !== undefined && height <= heightMax) return place
  }
  return undefined
}

async function heightOf(
  view: BitcoinPayingView,
  seen: SeenTransaction | undefined,
  signal: AbortSignal,
): Promise<bigint | undefined> {
  return seen && (await view.readBlockOf(seen, signal))?.height
}

async function readHeads(view: BitcoinPayingView, signal: AbortSignal): Promise<Heads> {
  const tipHeight = await view.readTipHeight(signal)
  return { tipHeight, tipSeconds: await view.readBlockTime(tipHeight, signal) }
}

/** The height that enough endpoints have final, and the time that enough of them have reached. */
const pinBy =
  ({ threshold, confirmations }: Pick<LineTerms, 'threshold' | 'confirmations'>) =>
  (heads: readonly Heads[]): Pin => ({
    finalHeight: finalHeight(
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
