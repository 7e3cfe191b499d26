import type { Hex } from '@causeway/core'
import {
  createEthereumFactsReader,
  type EthereumFactsReader,
  type EthereumFactsReaderOptions,
} from '@causeway/families'
import { type FaultProxy, recordsPayments as isOurs, startFaultProxy } from '@causeway/localnet'
import { createQuorumClient, type QuorumClient, type QuorumLimits } from '@causeway/rpc'
import { onTestFinished } from 'vitest'
import type { ChainBed } from './startChainBed.ts'

export { type ChainBed, startChainBed } from './startChainBed.ts'

type ChainOptions = EthereumFactsReaderOptions['chain']

export type ReaderSettings = Partial<Omit<ChainOptions, 'id'>> & {
  /** Default: one endpoint, the node itself. */
  readonly urls?: readonly string[]
  readonly threshold?: number
  /** Default: two blocks. */
  readonly hasDefaultFinality?: boolean
  readonly quorumLimits?: Partial<QuorumLimits>
  readonly limits?: EthereumFactsReaderOptions['limits']
  /** Default: contracts of this release. */
  readonly recordsPayments?: (code: Hex) => boolean
}

const finalAfterTwo = { mode: 'depth', blocks: 2 } as const

/** A reader that is closed when the test ends. */
export function readerOf(
  bed: Pick<ChainBed, 'url' | 'deployment'>,
  settings: ReaderSettings = {},
): { readonly reader: EthereumFactsReader; readonly quorum: QuorumClient } {
  const opened = openReader(bed, settings)
  onTestFinished(() => opened.quorum.close())
  return opened
}

export function openReader(
  bed: Pick<ChainBed, 'url' | 'deployment'>,
  settings: ReaderSettings = {},
): { readonly reader: EthereumFactsReader; readonly quorum: QuorumClient } {
  const { urls = [bed.url], threshold, quorumLimits, limits, hasDefaultFinality, ...rest } = settings
  const { recordsPayments = isOurs, ...chain } = rest
  const quorum = createQuorumClient({
    chainId: 'base',
    endpoints: urls.map((url, index) => ({ url, alias: `e${index + 1}` })),
    limits: { readingTimeoutMs: 30_000, requestTimeoutMs: 20_000, ...quorumLimits },
    ...(threshold !== undefined && { threshold }),
  })
  const reader = createEthereumFactsReader({
    chain: {
      id: 'base',
      depository: bed.deployment.depository,
      fillContracts: [bed.deployment.fillContract],
      ...(hasDefaultFinality !== true && { finality: finalAfterTwo }),
      ...chain,
    },
    quorum,
    recordsPayments,
    ...(limits !== undefined && { limits }),
  })
  return { reader, quorum }
}

/** Proxies in front of the node, stopped when the test ends. */
export async function proxiesOf(bed: Pick<ChainBed, 'url'>, count: number): Promise<readonly FaultProxy[]> {
  const proxies = await Promise.all(
    Array.from({ length: count }, () => startFaultProxy({ targetUrl: bed.url })),
  )
  onTestFinished(async () => {
    await Promise.all(proxies.map((proxy) => proxy.stop()))
  })
  return proxies
}

export function aSignal(): { readonly signal: AbortSignal } {
  return { signal: new AbortController().signal }
}
