import { realisedResult } from '../judge/realisedResult.ts'
import type { Valuer } from '../judge/verdict.ts'
import type { Records } from '../wallet/records.ts'
import type { KeptRecord } from '../wallet/signedRecord.ts'
import type { SolverMetrics } from './metrics.ts'
import type { PaidChain } from './paidChain.ts'

/** Wraps the records: each final outcome is also counted in metrics, once it is stored. */
export function observedRecords(
  records: Records,
  observing: {
    readonly chains: readonly PaidChain[]
    readonly valuer: () => Valuer
    readonly metrics: Pick<SolverMetrics, 'observeFinal'>
  },
): Records {
  const chains = new Map(observing.chains.map((chain) => [chain.chainId, chain]))
  const observe = (record: KeptRecord, gas: bigint) => {
    const chain = chains.get(record.chainId)
    if (chain === undefined) return
    const { kind, outcome, chainId } = record
    const payment = {
      chainId,
      deposits: record.deposits,
      payments: record.payments,
      gas: { currency: chain.codec.nativeCurrency, amount: gas },
    }
    // A failed payment has no result: it cost gas alone, which is counted by itself.
    const resultMicroUsd = outcome === 'done' ? realisedResult(payment, observing.valuer()) : undefined
    observing.metrics.observeFinal({ chain: chain.key, kind, outcome, gas, resultMicroUsd })
  }
  return {
    ...records,
    async save(record, fence, more) {
      await records.save(record, fence, more)
      // Only the write that settles a record has a `costWei` member, so each record is counted once.
      // Without a known cost its gas counts as 0.
      if (record.outcome !== 'open' && more !== undefined && 'costWei' in more)
        observe(record, more.costWei ?? 0n)
    },
  }
}
