import type { ChainQuestion, Sighting } from '@causeway/rpc'
import { MalformedAnswerError, reachedBy } from '@causeway/rpc'
import type { BitcoinOutput, BitcoinTransaction } from '../rules/transaction.ts'
import type { BitcoinBlock, BitcoinView, SeenTransaction } from './bitcoinView.ts'
import { type Confirmations, finalHeight, secondsToFinality } from './finality.ts'

/** A transaction that its chain cannot drop any more. */
export type FinalTransaction = {
  readonly transactionId: string
  readonly hex: string
  readonly transaction: BitcoinTransaction
  readonly block: BitcoinBlock
  /** Hash at the pinned height; with one endpoint there is nobody to compare with. */
  readonly pinnedHash: string | undefined
  /** Output that each input spends, `undefined` for a coinbase; read only on request. */
  readonly spent: readonly (BitcoinOutput | undefined)[] | undefined
}

export type TransactionReading = {
  readonly transactionId: string
  readonly wantsSpent: boolean
  readonly confirmations: Confirmations
  readonly threshold: number
  readonly configured: number
  readonly inputsMax: number
}

type OwnView = { readonly tipHeight: bigint; readonly seen: SeenTransaction | undefined }

const coinbaseId = '0'.repeat(64)

/**
 * The two rounds of one endpoint. First: its tip and the transaction. Then, below the tip that all agreed
 * on: the transaction's block with its proof, the hash at the final height, and what the inputs spend.
 */
export function transactionQuestion(
  reading: TransactionReading,
): Omit<ChainQuestion<OwnView, bigint, FinalTransaction, BitcoinView>, 'signal'> {
  const { transactionId } = reading
  return {
    transactionId,
    async first(view, signal) {
      const [tipHeight, seenTransaction] = await Promise.all([
        view.readTipHeight(signal),
        view.readTransaction(transactionId, signal),
      ])
      return { tipHeight, seen: seenTransaction }
    },
    pin: (views) => pinHeight(reading, views),
    second: (view, { seen: seenTransaction }, height, signal) =>
      judge(view, { ...reading, seen: seenTransaction, height }, signal),
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

type Judging = TransactionReading & { readonly seen: SeenTransaction | undefined; readonly height: bigint }

async function judge(
  view: BitcoinView,
  judging: Judging,
  signal: AbortSignal,
): Promise<Sighting<FinalTransaction>> {
  const { seen: seenTransaction, height, wantsSpent, inputsMax, configured } = judging
  if (seenTransaction === undefined) return { kind: 'refused', reason: 'missing' }
  if (wantsSpent && seenTransaction.transaction.inputs.length > inputsMax) {
    return { kind: 'refused', reason: 'too_large' }
  }
  const [block, pinnedHash, spent] = await Promise.all([
    view.readBlockOf(seenTransaction, signal),
    configured > 1 ? view.readBlockHash(height, signal) : undefined,
    wantsSpent ? readSpent(view, seenTransaction.transaction, signal) : undefined,
  ])
  if (block === undefined || block.height > height) {
    return { kind: 'not_final', waitSeconds: secondsToFinality((block?.height ?? height + 1n) - height) }
  }
  if (configured > 1 && pinnedHash === undefined) throw new MalformedAnswerError('block at final height')
  const { transactionId, transaction, hex } = seenTransaction
  return { kind: 'final', facts: { transactionId, hex, transaction, block, pinnedHash, spent } }
}

/** From the bytes of the transactions that made them, whose ids the inputs name: nobody can lie here. */
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
