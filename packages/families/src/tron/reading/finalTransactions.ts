import type { QuorumClient } from '@causeway/rpc'
import type { FinalityRule } from '../../ethereum/reading/finality.ts'
import type { EthereumReaderLimits } from '../../ethereum/reading/finalTransactions.ts'
import type { RecordsPayments } from '../../ethereum/reading/readFinalTransaction.ts'
import { createFinalTransactions, type KnownTransaction } from '../../shared/finalTransactions.ts'
import type { TronView } from './askNode.ts'
import { describeSolidity } from './finality.ts'
import { type FinalTransaction, transactionQuestion, type Wanted } from './readFinalTransaction.ts'

/** As on `ethereum-vm`. */
export type TronReaderLimits = EthereumReaderLimits

/** A question about one transaction. */
export type TransactionRequest = {
  /** Canonical. */
  readonly transactionId: string
  /** Readings for different purposes are cached apart. */
  readonly purpose: 'deposits' | 'payment'
  /** Text that is equal for requests with equal `wanted`. */
  readonly variant?: string
  readonly wanted: Wanted
}

/** Reads final transactions of one chain and caches them, for each purpose by itself. */
export function createTronTransactions(options: {
  readonly quorum: QuorumClient<TronView>
  readonly rule: FinalityRule
  readonly limits: TronReaderLimits
  readonly recordsPayments: RecordsPayments
}) {
  const { quorum, rule, limits, recordsPayments } = options
  const { threshold, configured } = quorum
  const finalTransactions = createFinalTransactions({
    quorum,
    limits,
    weightOf,
    finalityRule: describeSolidity(rule),
    shownIn: ({ blockHash, blockNumber }: FinalTransaction) => ({ blockHash, blockNumber }),
  })
  return {
    /** @throws what `QuorumClient.read` throws */
    read({ transactionId, purpose, variant = '', wanted }: TransactionRequest, signal: AbortSignal) {
      return finalTransactions.read(
        {
          // A cached transaction is found by `key`. Requests of the same moment share a reading where `variant` is equal too.
          key: `${purpose} ${transactionId}`,
          variant,
          // A cached transaction without some code that this request needs is read again.
          answers: ({ final }: KnownTransaction<FinalTransaction>) =>
            wanted.codeOf(final.logs, final.transaction).every((account) => final.code.has(account)),
          question: transactionQuestion({
            transactionId,
            wanted,
            rule,
            threshold,
            configured,
            recordsPayments,
            // Nodes cannot filter logs, so a payment is read with all of them, up to the largest answer that is
            // accepted.
            logsMax: purpose === 'payment' ? Number.POSITIVE_INFINITY : limits.logsMax,
          }),
        },
        signal,
      )
    },
    forget: finalTransactions.forget,
  }
}

/** About as many characters as a cached transaction has: 66 in a topic, 150 in the other members of a log. */
function weightOf({ logs, transaction }: FinalTransaction): number {
  const logWeight = logs.reduce((sum, { data, topics }) => sum + 150 + data.length + 66 * topics.length, 0)
  const ownWeight = (transaction?.input.length ?? 0) + (transaction?.memo.length ?? 0)
  return 500 + logWeight + ownWeight
}
