import { readNetworkFacts } from '@causeway/chains'
import { DomainError } from '@causeway/core'
import type { Findings, QuoteFile } from '@causeway/core/config'
import type { HttpPriceAdapter } from '@causeway/market'
import {
  type BrokenAssumption,
  judgeBlockTime,
  judgeFinality,
  judgeGas,
  judgeGuardians,
} from '../requests/stops/assumptions.ts'
import type { WatchedChain } from '../requests/stops/networkWatch.ts'

const timeoutMs = 5_000

/**
 * Finds, by one reading of each network, facts that the quote file records and that have changed. Block time is measured
 * between the newest final block and the newest one; only the running service sees changes within minutes.
 * @source rule O-107
 */
export async function examineNetworks(chains: readonly WatchedChain[], findings: Findings): Promise<void> {
  const brokenByChain = await Promise.all(
    chains.map(async ({ chain, client, fillWallet }) => {
      const { config } = chain
      if (config.seen === undefined) return []
      try {
        const facts = await readNetworkFacts(chain, { client, config, fillWallet, timeoutMs })
        if (facts === undefined) return []
        const { head: to, final: from } = facts
        const pace = from === undefined || to === undefined ? [] : judgeBlockTime(chain, { from, to })
        const broken = [...pace, ...judgeFinality(chain, facts), ...judgeGas(chain, facts)]
        return broken.map((assumption) => ({ ...assumption, setting: `quote: chains.${chain.key}` }))
      } catch (error) {
        // `examineEndpoints` reports a chain that does not answer.
        if (error instanceof DomainError) return []
        throw error
      }
    }),
  )
  for (const { setting, ...broken } of brokenByChain.flat()) addBroken(broken, setting, findings)
}

/** Finds a guardian set that signs prices and is not listed. @param adapters the price services that are switched on */
export async function examineGuardians(
  adapters: readonly HttpPriceAdapter[],
  { prices }: Pick<QuoteFile, 'prices'>,
  nowMs: () => number,
  findings: Findings,
): Promise<void> {
  for (const adapter of adapters.filter(({ kind }) => kind === 'signed')) {
    const ids = prices.flatMap(({ http }) =>
      http.flatMap((use) => (use.adapter === adapter.name ? [use.id] : [])),
    )
    if (ids.length === 0) continue
    try {
      const quotes = await adapter.read(ids, { nowMs: nowMs(), signal: AbortSignal.timeout(timeoutMs) })
      const faults = [...quotes.values()].map((quote) => ('fault' in quote ? quote.fault : undefined))
      for (const broken of judgeGuardians(faults)) addBroken(broken, 'quote: guardianSets', findings)
    } catch (error) {
      // A service that does not answer is a missing second source, which the market reports.
      if (!(error instanceof DomainError)) throw error
    }
  }
}

function addBroken({ text, isStopping }: BrokenAssumption, setting: string, findings: Findings): void {
  findings.add({
    code: 'network-changed',
    severity: 'degrades',
    setting,
    seen: `${text}${isStopping ? ': nothing new begins there' : ''}`,
    fix: 'Look what changed, and correct the file where it lasts: docs/operating/networks.md.',
  })
}
