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

export type TransactionRequest = {
  /** Canonical. */
  readonly transactionId: string
  /** Purpose, which decides what is read beside the info. */
  readonly purpose: 'deposits' | 'payment'
  /** Requests of equal text want the same. */
  readonly variant?: string
  readonly wanted: Wanted
}

/** Final transactions of one chain, each read once for each purpose while it is remembered. */
export function createTronTransactions(options: {
  readonly quorum: QuorumClient<TronView>
  readonly rule: FinalityRule
  readonly limits: TronReaderLimits
  readonly recordsPayments: RecordsPayments
}) {
  const { quorum, rule, limits, recordsPayments } = options
  const { threshold, configured } = quorum
  const finalTransactions = createFinalTransactions({
    ...{ quorum, limits, weightOf },
    finalityRule: describeSolidity(rule),
    shownIn: ({ blockHash, blockNumber }: FinalTransaction) => ({ blockHash, blockNumber }),
  })
  return {
    /** @throws what `QuorumClient.read` throws */
    read({ transactionId, purpose, variant = '', wanted }: TransactionRequest, signal: AbortSignal) {
      return finalTransactions.read(
        {
          key: `${purpose} ${transactionId}`,
          variant,
          answers: ({ final }: KnownTransaction<FinalTransaction>) =>
            wanted.codeOf(final.logs, final.transaction).every((account) => final.code.has(account)),
          question: transactionQuestion({
            ...{ transactionId, wanted, rule, threshold, configured, recordsPayments },
            // Nodes have no filter for logs: of a payment all are read, as long as the answer is heard out.
            logsMax: purpose === 'payment' ? Number.POSITIVE_INFINITY : limits.logsMax,
          }),
        },
        signal,
      )
    },
    forget: finalTransactions.forget,
  }
}

/** Characters: what a string costs most of. */
function weightOf({ logs, transaction }: FinalTransaction): number {
  const logWeight = logs.reduce((sum, { data, topics }) => sum + 150 + data.length + 66 * topics.length, 0)
  const ownWeight = (transaction?.input.length ?? 0) + (transaction?.memo.length ?? 0)
  return 500 + logWeight + ownWeight
}
