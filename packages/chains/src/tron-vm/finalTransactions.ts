import type { Evidence } from '@causeway/core'
import type { FinalityRule } from '../ethereum-vm/finality.ts'
import type { EthereumReaderLimits } from '../ethereum-vm/finalTransactions.ts'
import type { HttpView } from '../rpc/httpView.ts'
import type { QuorumClient } from '../rpc/quorumClient.ts'
import { RememberedReadings } from '../rpc/rememberedReadings.ts'
import { describeSolidity } from './finality.ts'
import { type FinalTransaction, transactionQuestion, type Wanted } from './readFinalTransaction.ts'

/** As on `ethereum-vm`. */
export type TronReaderLimits = EthereumReaderLimits

export type KnownTransaction = { readonly final: FinalTransaction; readonly evidence: Evidence }

export type TransactionRequest = {
  /** Canonical. */
  readonly transactionId: string
  /** What is read beside the info. */
  readonly purpose: 'deposits' | 'payment'
  /** Requests of equal text want the same. */
  readonly variant?: string
  readonly wanted: Wanted
}

/**
 * Final transactions of one chain, each read once for each purpose while it is remembered. Nothing that is
 * missing, failed or not final is remembered. @source design.md 7.5
 */
export function createFinalTransactions(options: {
  readonly quorum: QuorumClient<HttpView>
  readonly rule: FinalityRule
  readonly limits: TronReaderLimits
}) {
  const { quorum, rule, limits } = options
  const { chainId, threshold, configured } = quorum
  const known = new RememberedReadings<KnownTransaction>({
    chainId,
    limits,
    weightOf: ({ final }) => weightOf(final),
  })

  async function readAgreed(
    { transactionId, wanted }: TransactionRequest,
    signal: AbortSignal,
  ): Promise<KnownTransaction> {
    const { logsMax } = limits
    const question = transactionQuestion({ transactionId, wanted, rule, threshold, configured, logsMax })
    const { facts, agreeingEndpoints } = await quorum.read({ ...question, signal })
    const { blockHash, blockNumber } = facts
    const finalityRule = describeSolidity(rule)
    return { final: facts, evidence: { chainId, blockHash, blockNumber, finalityRule, agreeingEndpoints } }
  }

  return {
    /** @throws what `QuorumClient.read` throws */
    read(request: TransactionRequest, signal: AbortSignal): Promise<KnownTransaction> {
      const { purpose, transactionId, wanted } = request
      const reading = {
        key: `${purpose} ${transactionId}`,
        variant: request.variant ?? '',
        answers: ({ final }: KnownTransaction) =>
          wanted.codeOf(final.logs, final.transaction).every((account) => final.hasCode.has(account)),
      }
      return known.read(reading, signal, (shared) => readAgreed(request, shared))
    },
    forget: () => known.forget(),
  }
}

/** Characters: what a string costs most of. */
function weightOf({ logs, transaction, internal = [] }: FinalTransaction): number {
  const logWeight = logs.reduce((sum, { data, topics }) => sum + 150 + data.length + 66 * topics.length, 0)
  const ownWeight = (transaction?.input.length ?? 0) + (transaction?.memo.length ?? 0)
  return 500 + logWeight + ownWeight + 60 * internal.length
}
