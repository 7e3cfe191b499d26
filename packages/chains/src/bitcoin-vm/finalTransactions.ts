import type { Evidence } from '@causeway/core'
import type { QuorumClient } from '../rpc/quorumClient.ts'
import { defaultKeptLimits, type KeptLimits, RememberedReadings } from '../rpc/rememberedReadings.ts'
import type { BitcoinView } from './bitcoinView.ts'
import { type Confirmations, describeFinality } from './finality.ts'
import { type FinalTransaction, transactionQuestion } from './readFinalTransaction.ts'

export type KnownTransaction = { readonly final: FinalTransaction; readonly evidence: Evidence }

export type BitcoinReaderLimits = KeptLimits & {
  /** Inputs of a transaction that may be a deposit: each takes a reading of its own. Default 500. */
  readonly inputsMax: number
}

const defaultLimits: BitcoinReaderLimits = { ...defaultKeptLimits, inputsMax: 500 }

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
  const limits = { ...defaultLimits, ...options.limits }
  const { inputsMax } = limits
  const { chainId, threshold, configured } = quorum
  const known = new RememberedReadings<KnownTransaction>({
    chainId,
    limits,
    weightOf: ({ final: { hex, spent = [] } }) => 500 + 2 * hex.length + 100 * spent.length,
  })

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
    return { final, evidence: { chainId, blockHash, blockNumber, finalityRule, agreeingEndpoints } }
  }

  return {
    /** @param transactionId canonical; @throws what `QuorumClient.read` throws */
    read(
      { transactionId, wantsSpent }: { readonly transactionId: string; readonly wantsSpent: boolean },
      signal: AbortSignal,
    ): Promise<KnownTransaction> {
      return known.read(
        {
          key: transactionId,
          variant: String(wantsSpent),
          answers: ({ final }) => !wantsSpent || final.spent !== undefined,
        },
        signal,
        (shared) => readAgreed(transactionId, wantsSpent, shared),
      )
    },
    forget: () => known.forget(),
  }
}
