import type { FinalBlocks } from '@causeway/core'
import type { QuorumClient } from '@causeway/rpc'
import { createFinalBlocks, defaultReadingCacheLimits, type ReadingCacheLimits } from '@causeway/rpc'
import { createFinalTransactions, type KnownTransaction } from '../../shared/finalTransactions.ts'
import type { BitcoinView } from './bitcoinView.ts'
import { type Confirmations, describeFinality, secondsToFinality } from './finality.ts'
import { type FinalTransaction, pinHeight, transactionQuestion } from './readFinalTransaction.ts'

export type BitcoinReaderLimits = ReadingCacheLimits & {
  /** Most inputs of a transaction whose spent outputs are read: each takes a reading. Default 500. */
  readonly inputsMax: number
}

const defaultLimits: BitcoinReaderLimits = { ...defaultReadingCacheLimits, inputsMax: 500 }

export type BitcoinTransactions = ReturnType<typeof createBitcoinTransactions>

/** Reads final transactions of one chain and caches them. One is read again only if its spent outputs are missing. */
export function createBitcoinTransactions(options: {
  readonly quorum: QuorumClient<BitcoinView>
  readonly confirmations: Confirmations
  readonly limits: Partial<BitcoinReaderLimits>
}) {
  const { quorum, confirmations } = options
  const limits = { ...defaultLimits, ...options.limits }
  const { inputsMax } = limits
  const { threshold, configured } = quorum
  const finalTransactions = createFinalTransactions({
    quorum,
    limits,
    finalityRule: describeFinality(confirmations),
    shownIn: ({ block }: FinalTransaction) => ({ blockHash: block.hash, blockNumber: block.height }),
    // Characters, by estimate: 500 for the entry itself, 100 for each spent output, and the hex digits
    // twice, because the decoded transaction is kept beside them.
    weightOf: ({ hex, spent = [] }) => 500 + 2 * hex.length + 100 * spent.length,
  })
  return {
    /** @param transactionId canonical; @throws what `QuorumClient.read` throws */
    read(
      { transactionId, wantsSpent }: { readonly transactionId: string; readonly wantsSpent: boolean },
      signal: AbortSignal,
    ) {
      return finalTransactions.read(
        {
          key: transactionId,
          // Only readings with equal `wantsSpent` may share one that is in flight.
          variant: String(wantsSpent),
          // True if a cached entry answers this reading.
          answers: ({ final }: KnownTransaction<FinalTransaction>) =>
            !wantsSpent || final.spent !== undefined,
          question: transactionQuestion({
            transactionId,
            wantsSpent,
            confirmations,
            threshold,
            configured,
            inputsMax,
          }),
        },
        signal,
      )
    },
    forget: finalTransactions.forget,
  }
}

/** Final blocks of a `bitcoin-vm` chain, by height and hash. */
export function bitcoinFinalBlocks(
  quorum: QuorumClient<BitcoinView>,
  confirmations: Confirmations,
): FinalBlocks {
  const { threshold } = quorum
  return createFinalBlocks(quorum, {
    newest: {
      first: async (view, signal) => ({ tipHeight: await view.readTipHeight(signal) }),
      pin: (views) => pinHeight({ threshold, confirmations }, views),
      async second(view, _ownTip, finalHeight, signal) {
        // Below 0: the chain is shorter than its finality.
        const hash = finalHeight < 0n ? undefined : await view.readBlockHash(finalHeight, signal)
        if (hash === undefined) return { kind: 'not_final', waitSeconds: secondsToFinality(1n) }
        return { kind: 'final', facts: { number: finalHeight, hash } }
      },
    },
    hashAt: (view, height, signal) => view.readBlockHash(height, signal),
  })
}
