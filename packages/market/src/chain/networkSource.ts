import { currencyKey } from '@causeway/core'
import type { AgreementReport, NetworkReader } from '@causeway/families'
import type { ChainPlan } from '../plan.ts'
import type { AgreedKind, ChainReading, ChainSource } from './chainReading.ts'

/** Source of a chain without contract calls: its family reads head, fees and balances. No feeds or pools. */
export function createNetworkSource(options: {
  readonly plan: ChainPlan
  readonly reader: NetworkReader
  readonly timeoutMs: number
  readonly onReport: (kind: AgreedKind, report: AgreementReport) => void
}): ChainSource {
  const { plan, reader, timeoutMs, onReport } = options
  const { chainId, currencies, fillWallet } = plan.config
  const solverCurrencies = currencies.filter(({ solver }) => solver).map(({ address }) => address)
  let last: ChainReading | undefined
  return {
    async read(signal) {
      const { head, fees, shown, inventory, voices } = await reader.read({ signal, timeoutMs })
      // The reader counts the endpoints that agree, and does not tell which dissent.
      onReport('head', { ...voices, dissenting: [] })
      // Endpoints that are behind do not take back a newer head that enough endpoints have shown.
      if (last !== undefined && head.number < last.head.number) return last
      last = {
        head,
        fees: { fees, shown },
        inventory: new Map(
          solverCurrencies.flatMap((currency) => {
            // Without a fill wallet the balance is known to be zero.
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
