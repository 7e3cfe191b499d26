import { onTestFinished } from 'vitest'
import {
  createHyperliquidFactsReader,
  type HyperliquidFactsReader,
  type HyperliquidFactsReaderOptions,
} from '../../../packages/families/src/hyperliquid/reading/factsReader.ts'
import {
  createHyperliquidView,
  type HyperliquidView,
} from '../../../packages/families/src/hyperliquid/reading/hyperliquidView.ts'
import type { HubEntries } from '../../../packages/families/src/shared/hubEntries.ts'
import { HttpView } from '../../../packages/rpc/src/httpView.ts'
import { createQuorum, type QuorumClient, type QuorumLimits } from '../../../packages/rpc/src/quorumClient.ts'
import { chainId, depository, type HyperliquidBed, otherDepository } from './startHyperliquidBed.ts'

export { aSignal } from '../ethereumSupport/chainBed.ts'
export * from './startHyperliquidBed.ts'

export type ReaderSettings = Partial<HyperliquidFactsReaderOptions['chain']> & {
  /** Default: one endpoint. */
  readonly count?: number
  /** Default: those of the exchange. */
  readonly urls?: readonly string[]
  readonly threshold?: number
  readonly quorumLimits?: Partial<QuorumLimits>
  readonly limits?: HyperliquidFactsReaderOptions['limits']
  readonly hubEntries?: HubEntries
}

type OpenReader = {
  readonly reader: HyperliquidFactsReader
  readonly quorum: QuorumClient<HyperliquidView>
}

export function openReader(bed: HyperliquidBed, settings: ReaderSettings = {}): OpenReader {
  const { count = 1, threshold, quorumLimits, limits, hubEntries = bed.hubEntries, ...rest } = settings
  const { urls = bed.exchanges.slice(0, count).map(({ url }) => url), ...chain } = rest
  const options = {
    chainId,
    endpoints: urls.map((url, index) => ({ url, alias: `h${index + 1}` })),
    limits: { readingTimeoutMs: 30_000, requestTimeoutMs: 20_000, ...quorumLimits },
    ...(threshold !== undefined && { threshold }),
  }
  const quorum = createQuorum(options, (endpoint, viewLimits) => {
    const view = new HttpView(endpoint, viewLimits)
    return createHyperliquidView({ explorer: view, info: view, proxy: undefined })
  })
  const reader = createHyperliquidFactsReader({
    chain: { id: chainId, depository, additionalDepositories: [otherDepository], ...chain },
    quorum,
    hubEntries,
    ...(limits !== undefined && { limits }),
  })
  return { reader, quorum }
}

/** A reader that is closed when the test ends. */
export function readerOf(bed: HyperliquidBed, settings: ReaderSettings = {}): HyperliquidFactsReader {
  const { reader, quorum } = openReader(bed, settings)
  onTestFinished(() => quorum.close())
  return reader
}
