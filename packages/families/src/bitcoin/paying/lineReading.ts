import type { ChainQuestion } from '@causeway/rpc'
import { MalformedAnswerError, reachedBy } from '@causeway/rpc'
import type { SeenTransaction } from '../reading/bitcoinView.ts'
import { type Confirmations, finalHeight } from '../reading/finality.ts'
import type { LineWallet, OwnOutput } from '../rules/paying/lineTransaction.ts'
import type { BitcoinTransaction, OutPoint } from '../rules/transaction.ts'
import type { LineView } from './linePayingChain.ts'
import type { BitcoinPayingView } from './payingViews.ts'
import type { PaymentLine } from './paymentLine.ts'

/** `tip` is undefined if the line's end is none of the requested places. */
export type LineReading = Omit<LineView, 'tip'> & { readonly tip: OwnOutput | undefined }

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
type Head = { readonly tipHeight: bigint; readonly tipSeconds: bigint }
/** Final height and time of the chain, derived from all endpoints' heads: the second round is read as of these. */
type Pin = { readonly finalHeight: bigint; readonly chainSeconds: bigint }
type Question<First extends Head, Facts> = Omit<ChainQuestion<First, Pin, Facts, BitcoinPayingView>, 'signal'>

/** One endpoint's first answer: its head, and the transactions of the requested places. */
type FirstAnswer = Head & { readonly transactions: readonly (SeenTransaction | undefined)[] }

/** `places`: outputs that may be the line's end, and those of payments that may have been mined. */
type PlacesTerms = LineTerms & { readonly places: readonly OutPoint[] }

/**
 * Asks each endpoint for the end of a wallet's line. Final places are read as of one height for all, but
 * `tip` and `mined` as of each endpoint's newest block: the reading fails while too few endpoints have a
 * block that holds or spends one of the places.
 */
export function lineQuestion(terms: PlacesTerms): Question<FirstAnswer, LineReading> {
  return {
    async first(view, signal) {
      const [head, transactions] = await Promise.all([
        readHead(view, signal),
        Promise.all(terms.places.map(({ txid }) => view.readTransaction(txid, signal))),
      ])
      return { ...head, transactions }
    },
    pin: pinBy(terms),
    second: async (view, { transactions }, pin, signal) => ({
      // `final` marks an answer with facts; the facts themselves tell which places are final.
      kind: 'final',
      facts: await readLine(view, terms, { transactions, pin }, signal),
    }),
    // `chainSeconds` is not compared, because it may be of this machine's clock.
    key: ({ tip, finalTip, mined, finalSeconds }) =>
      JSON.stringify([
        [tip?.txid, tip?.vout, finalTip?.txid, finalTip?.vout, finalSeconds],
        [...mined].map(([hash, { isFinal }]) => `${hash} ${isFinal}`).sort(),
      ]),
  }
}

async function readLine(
  view: BitcoinPayingView,
  terms: PlacesTerms,
  { transactions, pin }: Pick<FirstAnswer, 'transactions'> & { readonly pin: Pin },
  signal: AbortSignal,
): Promise<LineReading> {
  const { places, line, nowMs } = terms
  const { finalHeight } = pin
  const minedPlaces = await readMined(view, places, transactions, signal)
  const tip = await findTip(view, terms, minedPlaces, signal)
  const finalTip = await findFinalTip(view, line, { tip, finalHeight }, signal)
  // Below 0: the chain is shorter than its finality.
  const finalSeconds = finalHeight < 0n ? 0n : await view.readBlockTime(finalHeight, signal)
  const mined = minedPlaces.map(
    ({ place, height }) => [place.txid, { isFinal: height <= finalHeight }] as const,
  )
  return {
    tip,
    finalTip,
    finalSeconds: Number(finalSeconds),
    mined: new Map(mined),
    // Blocks may be late: the next one can be as late as this machine's time.
    chainSeconds: Math.max(Number(pin.chainSeconds), Math.floor(nowMs() / 1_000)),
  }
}

/** Asks each endpoint for the value of an output that pays `script`; `undefined` unless it is final and unspent. */
export function unspentQuestion(
  terms: Pick<LineTerms, 'threshold' | 'confirmations'> & {
    readonly output: OutPoint
    readonly script: Uint8Array
  },
): Question<Head, { readonly value: bigint | undefined }> {
  const { output, script } = terms
  return {
    first: readHead,
    pin: pinBy(terms),
    async second(view, _head, pin, signal) {
      const transaction = await view.readTransaction(output.txid, signal)
      const block = transaction && (await view.readBlockOf(transaction, signal))
      const paid = transaction?.transaction.outputs[output.vout]
      const isOwn = paid !== undefined && Buffer.compare(paid.script, script) === 0
      const isFinal = block !== undefined && block.height <= pin.finalHeight
      const isUnspent = isOwn && isFinal && (await view.readSpending(output, signal)).kind === 'unspent'
      // `final` marks an answer with facts; that the output does not count is one of them.
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

async function readHead(view: BitcoinPayingView, signal: AbortSignal): Promise<Head> {
  const tipHeight = await view.readTipHeight(signal)
  return { tipHeight, tipSeconds: await view.readBlockTime(tipHeight, signal) }
}

/** The height that enough endpoints have final, and the time that enough of them have reached. */
const pinBy =
  ({ threshold, confirmations }: Pick<LineTerms, 'threshold' | 'confirmations'>) =>
  (heads: readonly Head[]): Pin => {
    const reached = (memberOf: (head: Head) => bigint) => reachedBy(threshold, heads.map(memberOf))
    const tipHeight = reached((head) => head.tipHeight)
    const chainSeconds = reached(({ tipSeconds }) => tipSeconds)
    return { finalHeight: finalHeight(tipHeight, confirmations), chainSeconds }
  }
