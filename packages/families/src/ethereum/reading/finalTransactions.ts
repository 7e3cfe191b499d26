import type { QuorumClient } from '@causeway/rpc'
import { defaultReadingCacheLimits, type ReadingCacheLimits } from '@causeway/rpc'
import { createFinalTransactions, type KnownTransaction } from '../../shared/finalTransactions.ts'
import { describeFinality, type FinalityRule } from './finality.ts'
import {
  type FinalTransaction,
  type RecordsPayments,
  transactionQuestion,
  type WantedParts,
} from './readFinalTransaction.ts'

export type EthereumReaderLimits = ReadingCacheLimits & {
  /** Most events of one transaction. Default 50 000: the gas limit of EIP-7825, 16,777,216, pays for 44,739. */
  readonly logsMax: number
}

export const defaultReaderLimits: EthereumReaderLimits = { ...defaultReadingCacheLimits, logsMax: 50_000 }

/** A transaction to read, and which parts of it. */
export type TransactionRequest = {
  /** Canonical. */
  readonly transactionId: string
  readonly wanted: WantedParts
  /** Requests for the same transaction with equal `purpose` have equal `wanted`, and share one reading. */
  readonly purpose: string
}

export type EthereumTransactions = ReturnType<typeof createEthereumTransactions>

/** Cache of one chain's final transactions: one is read again only if a request wants parts that it lacks. */
export function createEthereumTransactions(options: {
  readonly quorum: QuorumClient
  readonly rule: FinalityRule
  readonly limits: Partial<EthereumReaderLimits>
  readonly recordsPayments: RecordsPayments
}) {
  const { quorum, rule, recordsPayments } = options
  const limits = { ...defaultReaderLimits, ...options.limits }
  const { logsMax } = limits
  const { threshold, configured } = quorum
  const finalTransactions = createFinalTransactions({
    quorum,
    limits,
    weightOf,
    finalityRule: describeFinality(rule),
    shownIn: ({ blockHash, blockNumber }: FinalTransaction) => ({ blockHash, blockNumber }),
  })
  return {
    /** @throws what `QuorumClient.read` throws */
    read({ transactionId, purpose, wanted }: TransactionRequest, signal: AbortSignal) {
      return finalTransactions.read(
        {
          key: transactionId,
          variant: purpose,
          answers: ({ final }: KnownTransaction<FinalTransaction>) => isAnsweredBy(final, wanted),
          question: transactionQuestion({
            transactionId,
            wanted,
            rule,
            threshold,
            configured,
            logsMax,
            recordsPayments,
          }),
        },
        signal,
      )
    },
    forget: finalTransactions.forget,
  }
}

/** True if a remembered transaction has all parts that a request wants. */
function isAnsweredBy({ logs, transaction, code }: FinalTransaction, wanted: WantedParts): boolean {
  const wantsTransaction = wanted.transaction === 'always' || wanted.transaction(logs)
  if (wantsTransaction && transaction === undefined) return false
  return wanted.codeOf(logs, transaction).every((account) => code.has(account))
}

/** Size in the cache: characters of its texts, plus a flat sum for the objects. */
function weightOf({ logs, transaction }: FinalTransaction): number {
  const logWeight = logs.reduce((sum, { data, topics }) => sum + 150 + data.length + 66 * topics.length, 0)
  return 500 + logWeight + (transaction?.input.length ?? 0)
}
