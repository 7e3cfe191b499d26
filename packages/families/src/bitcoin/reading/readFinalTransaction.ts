import type { ChainQuestion, Sighting } from '@causeway/rpc'
import { MalformedAnswerError, reachedBy } from '@causeway/rpc'
import { type BitcoinOutput, type BitcoinTransaction, coinbaseId } from '../rules/transaction.ts'
import type { BitcoinBlock, BitcoinView, SeenTransaction } from './bitcoinView.ts'
import { type Confirmations, finalHeight, secondsToFinality } from './finality.ts'

/** A transaction that its chain cannot drop any more. */
export type FinalTransaction = {
  readonly transactionId: string
  readonly hex: string
  readonly transaction: BitcoinTransaction
  readonly block: BitcoinBlock
  /**
   * Hash of the block at the pinned final height: endpoints must agree on it too, so that they have one
   * chain up to there. Not read with one endpoint, where nothing is compared.
   */
  readonly pinnedHash: string | undefined
  /** Output that each input spends, `undefined` for a coinbase (a miner's reward); read only on request. */
  readonly spent: readonly (BitcoinOutput | undefined)[] | undefined
}

export type TransactionReading = {
  readonly transactionId: string
  /** True if the outputs that the inputs spend are read too. */
  readonly wantsSpent: boolean
  readonly confirmations: Confirmations
  /** Endpoints that must agree. */
  readonly threshold: number
  /** Endpoints that there are. */
  readonly configured: number
  /** Most inputs of a transaction whose spent outputs are read; with more it is refused. */
  readonly inputsMax: number
}

/** First answer of one endpoint. `transaction` is undefined if the endpoint has none. */
type FirstAnswer = { readonly tipHeight: bigint; readonly transaction: SeenTransaction | undefined }

/**
 * Asks each endpoint in two rounds. First: its tip and the transaction. `pin` derives the final height from
 * the tips. Second: the transaction's block with its proof, the hash at the final height, and what the inputs
 * spend. Votes are equal if bytes, block and pinned hash are (`key`): `spent` follows from the bytes, whose
 * ids were checked. `confirms` is asked only where enough endpoints lack the transaction, and tells if they
 * have its block.
 */
export function transactionQuestion(
  reading: TransactionReading,
): Omit<ChainQuestion<FirstAnswer, bigint, FinalTransaction, BitcoinView>, 'signal'> {
  const { transactionId } = reading
  return {
    transactionId,
    async first(view, signal) {
      const [tipHeight, transaction] = await Promise.all([
        view.readTipHeight(signal),
        view.readTransaction(transactionId, signal),
      ])
      return { tipHeight, transaction }
    },
    pin: (answers) => pinHeight(reading, answers),
    second: (view, { transaction }, pinnedHeight, signal) =>
      judge(view, { ...reading, seenTransaction: transaction, pinnedHeight }, signal),
    confirms: async (view, { block }, signal) =>
      (await view.readBlockHash(block.height, signal)) === block.hash,
    key: ({ hex, block, pinnedHash }) =>
      `${hex} ${block.hash} ${block.height} ${block.timeSeconds} ${pinnedHash}`,
  }
}

/** The newest final height, by the tip that at least `threshold` endpoints have reached. */
export function pinHeight(
  { threshold, confirmations }: Pick<TransactionReading, 'threshold' | 'confirmations'>,
  views: readonly { readonly tipHeight: bigint }[],
): bigint {
  const tips = views.map(({ tipHeight }) => tipHeight)
  return finalHeight(reachedBy(threshold, tips), confirmations)
}

/** `pinnedHeight`: the final height that enough endpoints have reached. */
type Judging = TransactionReading & {
  readonly seenTransaction: SeenTransaction | undefined
  readonly pinnedHeight: bigint
}

async function judge(
  view: BitcoinView,
  judging: Judging,
  signal: AbortSignal,
): Promise<Sighting<FinalTransaction>> {
  const { seenTransaction, pinnedHeight, wantsSpent, inputsMax, configured } = judging
  if (seenTransaction === undefined) return { kind: 'refused', reason: 'missing' }
  if (wantsSpent && seenTransaction.transaction.inputs.length > inputsMax) {
    return { kind: 'refused', reason: 'too_large' }
  }
  const [block, pinnedHash, spent] = await Promise.all([
    view.readBlockOf(seenTransaction, signal),
    configured > 1 ? view.readBlockHash(pinnedHeight, signal) : undefined,
    wantsSpent ? readSpent(view, seenTransaction.transaction, signal) : undefined,
  ])
  if (block === undefined || block.height > pinnedHeight) {
    // A transaction in no block counts as one in the next block above the final height.
    return {
      kind: 'not_final',
      waitSeconds: secondsToFinality((block?.height ?? pinnedHeight + 1n) - pinnedHeight),
    }
  }
  if (configured > 1 && pinnedHash === undefined) throw new MalformedAnswerError('block at final height')
  const { transactionId, transaction, hex } = seenTransaction
  return { kind: 'final', facts: { transactionId, hex, transaction, block, pinnedHash, spent } }
}

/** Spent outputs from the bytes of the transactions that made them. Inputs name the hashes, so no endpoint can lie. */
function readSpent(
  view: BitcoinView,
  { inputs }: BitcoinTransaction,
  signal: AbortSignal,
): Promise<readonly (BitcoinOutput | undefined)[]> {
  return Promise.all(
    inputs.map(async ({ txid, vout }) => {
      if (txid === coinbaseId) return undefined
      const output = (await view.readTransaction(txid, signal))?.transaction.outputs[vout]
      if (output === undefined) throw new MalformedAnswerError('spent output')
      return output
    }),
  )
}
