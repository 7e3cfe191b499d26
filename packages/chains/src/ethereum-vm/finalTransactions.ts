import { type Evidence, ethereumCodec, UpstreamUnavailableError } from '@causeway/core'
import { OneFlight } from '../quorum/oneFlight.ts'
import type { QuorumClient } from '../quorum/quorumClient.ts'
import { WeightedCache } from '../quorum/weightedCache.ts'
import { describeFinality, type FinalityRule } from './finality.ts'
import { type FinalTransaction, transactionQuestion, type Wanted } from './readFinalTransaction.ts'

export type EthereumReaderLimits = {
  /** Events of one transaction. Default 5 000. */
  readonly logsMax: number
  /** Final transactions kept. Default 10 000; 0 keeps none. */
  readonly finalEntriesMax: number
  /** Characters kept with them. Default 32 million: at most 64 MiB. */
  readonly finalWeightMax: number
}

export const defaultReaderLimits: EthereumReaderLimits = {
  logsMax: 5_000,
  finalEntriesMax: 10_000,
  finalWeightMax: 32 * 1024 * 1024,
}

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
  const known = new WeightedCache<KnownTransaction>({
    entriesMax: limits.finalEntriesMax,
    weightMax: limits.finalWeightMax,
  })
  const flights = new OneFlight<KnownTransaction>()

  async function readAgreed(request: TransactionRequest, signal: AbortSignal): Promise<KnownTransaction> {
    const { transactionId, wanted } = request
    const { logsMax } = limits
    const question = transactionQuestion({ transactionId, wanted, rule, threshold, configured, logsMax })
    const { facts, agreeingEndpoints } = await quorum.read({ ...question, transactionId, signal })
    const { blockHash, blockNumber } = facts
    const finalityRule = describeFinality(rule)
    const read = {
      final: facts,
      evidence: { chainId, blockHash, blockNumber, finalityRule, agreeingEndpoints },
    }
    known.set(transactionId, read, weightOf(facts))
    return read
  }

  return {
    /**
     * @throws InvalidTransactionIdError, and what `QuorumClient.read` throws
     */
    async read(request: TransactionRequest, signal: AbortSignal): Promise<KnownTransaction> {
      const transactionId = ethereumCodec.canonicalTransactionId(request.transactionId)
      const remembered = known.get(transactionId)
      if (remembered !== undefined && holds(remembered.final, request.wanted)) return remembered
      const own = { ...request, transactionId }
      return runAsOne(flights, { key: `${transactionId} ${request.purpose}`, chainId, signal }, (shared) =>
        readAgreed(own, shared),
      )
    },
    forget: () => known.clear(),
  }
}

/** One flight, with the refusal of a caller that gave up typed like any other. */
export async function runAsOne<Value>(
  flights: OneFlight<Value>,
  { key, chainId, signal }: { readonly key: string; readonly chainId: string; readonly signal: AbortSignal },
  work: (signal: AbortSignal) => Promise<Value>,
): Promise<Value> {
  try {
    return await flights.run(key, signal, work)
  } catch (error) {
    if (!signal.aborted) throw error
    throw new UpstreamUnavailableError(`Chain ${chainId} did not answer in time.`, {
      code: 'REQUEST_TIMED_OUT',
      data: { chainId },
      cause: error,
    })
  }
}

function holds({ logs, transaction, internal }: FinalTransaction, wanted: Wanted): boolean {
  const wantsTransaction = wanted.transaction === 'always' || wanted.transaction(logs)
  if (wantsTransaction && transaction === undefined) return false
  return internal !== undefined || !wanted.trace(logs, transaction)
}

/** Characters: what a string costs most of. */
function weightOf({ logs, transaction, internal = [] }: FinalTransaction): number {
  const logWeight = logs.reduce((sum, { data, topics }) => sum + 150 + data.length + 66 * topics.length, 0)
  return 500 + logWeight + (transaction?.input.length ?? 0) + 60 * internal.length
}
