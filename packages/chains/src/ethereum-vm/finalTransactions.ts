import { type Evidence, ethereumCodec } from '@causeway/core'
import type { QuorumClient } from '../rpc/quorumClient.ts'
import { defaultKeptLimits, type KeptLimits, RememberedReadings } from '../rpc/rememberedReadings.ts'
import { describeFinality, type FinalityRule } from './finality.ts'
import { type FinalTransaction, transactionQuestion, type Wanted } from './readFinalTransaction.ts'

export type EthereumReaderLimits = KeptLimits & {
  /** Events of one transaction. Default 5 000. */
  readonly logsMax: number
}

export const defaultReaderLimits: EthereumReaderLimits = { ...defaultKeptLimits, logsMax: 5_000 }

export type KnownTransaction = { readonly final: FinalTransaction; readonly evidence: Required<Evidence> }

export type TransactionRequest = {
  readonly transactionId: string
  readonly wanted: Wanted
  /** Requests of equal text want the same. */
  readonly purpose: string
}

export type FinalTransactionsOptions = {
  readonly quorum: QuorumClient
  readonly rule: FinalityRule
  readonly limits: Partial<EthereumReaderLimits>
}

/**
 * Final transactions of one chain. One that was read is never read again while it is remembered; the same
 * one asked for by many at once is read once. Only final transactions are remembered, under the block that
 * held them. @source design.md 7.5
 */
export function createFinalTransactions(options: FinalTransactionsOptions) {
  const { quorum, rule } = options
  const limits = { ...defaultReaderLimits, ...options.limits }
  const { chainId, threshold, configured } = quorum
  const known = new RememberedReadings<KnownTransaction>({
    chainId,
    limits,
    weightOf: ({ final }) => weightOf(final),
  })

  async function readAgreed(request: TransactionRequest, signal: AbortSignal): Promise<KnownTransaction> {
    const { transactionId, wanted } = request
    const { logsMax } = limits
    const question = transactionQuestion({ transactionId, wanted, rule, threshold, configured, logsMax })
    const { facts, agreeingEndpoints } = await quorum.read({ ...question, transactionId, signal })
    const { blockHash, blockNumber } = facts
    const finalityRule = describeFinality(rule)
    return { final: facts, evidence: { chainId, blockHash, blockNumber, finalityRule, agreeingEndpoints } }
  }

  return {
    /**
     * @throws InvalidTransactionIdError, and what `QuorumClient.read` throws
     */
    async read(request: TransactionRequest, signal: AbortSignal): Promise<KnownTransaction> {
      const transactionId = ethereumCodec.canonicalTransactionId(request.transactionId)
      const { purpose, wanted } = request
      return known.read(
        { key: transactionId, variant: purpose, answers: ({ final }) => holds(final, wanted) },
        signal,
        (shared) => readAgreed({ ...request, transactionId }, shared),
      )
    },
    forget: () => known.forget(),
  }
}

function holds({ logs, transaction, internal, hasCode }: FinalTransaction, wanted: Wanted): boolean {
  const wantsTransaction = wanted.transaction === 'always' || wanted.transaction(logs)
  if (wantsTransaction && transaction === undefined) return false
  const codes = wanted.codeOf(logs, transaction).map((account) => hasCode.get(account))
  if (codes.includes(undefined)) return false
  const wantsTrace = wanted.trace(logs, transaction) || (wanted.tracesCode && codes.includes(true))
  return internal !== undefined || !wantsTrace
}

/** Characters: what a string costs most of. */
function weightOf({ logs, transaction, internal = [] }: FinalTransaction): number {
  const logWeight = logs.reduce((sum, { data, topics }) => sum + 150 + data.length + 66 * topics.length, 0)
  return 500 + logWeight + (transaction?.input.length ?? 0) + 60 * internal.length
}
