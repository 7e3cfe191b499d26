import type { Evidence } from '@causeway/core'
import { runAsOne } from '../ethereum-vm/finalTransactions.ts'
import { OneFlight } from '../quorum/oneFlight.ts'
import type { QuorumClient } from '../quorum/quorumClient.ts'
import { WeightedCache } from '../quorum/weightedCache.ts'
import type { BitcoinView } from './bitcoinView.ts'
import { type Confirmations, describeFinality } from './finality.ts'
import { type FinalTransaction, transactionQuestion } from './readFinalTransaction.ts'

export type KnownTransaction = { readonly final: FinalTransaction; readonly evidence: Evidence }

export type BitcoinReaderLimits = {
  /** Inputs of a transaction that may be a deposit: each takes a reading of its own. Default 500. */
  readonly inputsMax: number
  /** Final transactions kept. Default 10 000; 0 keeps none. */
  readonly finalEntriesMax: number
  /** Characters kept with them. Default 32 million: at most 64 MiB. */
  readonly finalWeightMax: number
}

const defaultLimits: BitcoinReaderLimits = {
  inputsMax: 500,
  finalEntriesMax: 10_000,
  finalWeightMax: 32 * 1024 * 1024,
}

/**
 * Final transactions of one chain: read once while remembered, and once for all who ask at the same time.
 * @source design.md 7.5
 */
export function createFinalTransactions(options: {
  readonly quorum: QuorumClient<BitcoinView>
  readonly confirmations: Confirmations
  readonly limits: Partial<BitcoinReaderLimits>
}) {
  const { quorum, confirmations } = options
  const { inputsMax, finalEntriesMax, finalWeightMax } = { ...defaultLimits, ...options.limits }
  const { chainId, threshold, configured } = quorum
  const known = new WeightedCache<KnownTransaction>({
    entriesMax: finalEntriesMax,
    weightMax: finalWeightMax,
  })
  const flights = new OneFlight<KnownTransaction>()

  async function readAgreed(
    transactionId: string,
    wantsSpent: boolean,
    signal: AbortSignal,
  ): Promise<KnownTransaction> {
    const question = transactionQuestion({
      ...{ transactionId, wantsSpent, confirmations, threshold, configured, inputsMax },
    })
    const { facts: final, agreeingEndpoints } = await quorum.read({ ...question, signal })
    const { hash: blockHash, height: blockNumber } = final.block
    const finalityRule = describeFinality(confirmations)
    const read = { final, evidence: { chainId, blockHash, blockNumber, finalityRule, agreeingEndpoints } }
    known.set(transactionId, read, 500 + 2 * final.hex.length + 100 * (final.spent?.length ?? 0))
    return read
  }

  return {
    /** @param transactionId canonical; @throws what `QuorumClient.read` throws */
    async read(
      { transactionId, wantsSpent }: { readonly transactionId: string; readonly wantsSpent: boolean },
      signal: AbortSignal,
    ): Promise<KnownTransaction> {
      const remembered = known.get(transactionId)
      if (remembered !== undefined && (!wantsSpent || remembered.final.spent !== undefined)) return remembered
      return runAsOne(flights, { key: `${transactionId} ${wantsSpent}`, chainId, signal }, (shared) =>
        readAgreed(transactionId, wantsSpent, shared),
      )
    },
    forget: () => known.clear(),
  }
}
