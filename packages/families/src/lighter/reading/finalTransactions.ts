import type { HttpView, QuorumClient, Sighting } from '@causeway/rpc'
import { defaultReadingCacheLimits, type ReadingCacheLimits, singleRoundQuestion } from '@causeway/rpc'
import { createFinalTransactions } from '../../shared/finalTransactions.ts'
import type { LighterTransaction } from './answers.ts'
import { readTransaction } from './api.ts'

/**
 * An executed transaction. Without its status, which differs between endpoints: one may know of its proof on layer 1.
 */
export type FinalTransaction = Omit<LighterTransaction, 'status'>

export type LighterReaderLimits = Pick<ReadingCacheLimits, 'finalEntriesMax'>

/** Bytes that a cached transaction counts as: it is a few numbers and a memo. */
const transactionWeight = 1_000

/** Finality for evidence: a transaction that the sequencer executed is never replaced. @source rule F-162 */
export const finalityRule = 'executed by the sequencer'

export type LighterTransactions = ReturnType<typeof createLighterTransactions>

/** Reads and caches executed transactions of one chain. */
export function createLighterTransactions(options: {
  readonly quorum: QuorumClient<HttpView>
  readonly limits: Partial<LighterReaderLimits>
}) {
  const { quorum } = options
  const finalTransactions = createFinalTransactions({
    quorum,
    finalityRule,
    limits: { ...defaultReadingCacheLimits, ...options.limits },
    // Evidence names no block, because an executed transaction is never replaced.
    shownIn: (_final: FinalTransaction) => ({}),
    weightOf: () => transactionWeight,
  })
  return {
    /** @param transactionId canonical; @throws what `QuorumClient.read` throws */
    read(transactionId: string, signal: AbortSignal) {
      const round = singleRoundQuestion(async (view: HttpView, viewSignal) =>
        judge(await readTransaction(view, transactionId, viewSignal)),
      )
      return finalTransactions.read({ key: transactionId, question: { ...round, transactionId } }, signal)
    },
    forget: finalTransactions.forget,
  }
}

function judge(transaction: LighterTransaction | undefined): Sighting<FinalTransaction> {
  if (transaction === undefined) return { kind: 'refused', reason: 'missing' }
  const { status, ...final } = transaction
  switch (status) {
    case 'waiting':
      return { kind: 'not_final', waitSeconds: 1 }
    case 'failed':
      return { kind: 'refused', reason: 'reverted' }
    case 'executed':
      return { kind: 'final', facts: final }
  }
}
