import { currencyKey } from '@causeway/core'
import type { AgreementReport, NetworkReader } from '@causeway/families'
import type { ChainPlan } from '../plan.ts'
import type { AgreedKind, ChainReading, ChainSource } from './chainReading.ts'

/** Readings of a chain that its family reads itself: no feeds, no pools. */
export function createNetworkSource(options: {
  readonly plan: ChainPlan
  readonly reader: NetworkReader
  readonly timeoutMs: number
  readonly onReport: (kind: AgreedKind, report: AgreementReport) => void
}): ChainSource {
  const { plan, reader, timeoutMs, onReport } = options
  const { chainId, currencies, fillWallet } = plan.config
  const kept = currencies.filter(({ solver }) => solver).map(({ address }) => address)
  let last: ChainReading | undefined
  return {
    async read(signal) {
      const { head, fees, shown, inventory, voices } = await reader.read({ signal, timeoutMs })
      onReport('head', { ...voices, dissenting: [] })
      // Enough endpoints have shown the newer head: that some do not have it yet takes nothing back.
      if (last !== undefined && head.number < last.head.number) return last
      last = {
        head,
        fees: { fees, shown },
        inventory: new Map(
          kept.flatMap((currency) => {
            // Without a wallet nothing is there to pay from.
            const amount = fillWallet === undefined ? 0n : inventory.get(currency)
            return amount === undefined ? [] : [[currencyKey(chainId, currency), amount] as const]
          }),
        ),
        feeds: new Map(),
        contractsAt: { block: head.number, timestampSeconds: head.timestampSeconds },
        pools: [],
        poolsLive: true,
        poolProblems: new Map(),
      }
      return last
    },
  }
}
