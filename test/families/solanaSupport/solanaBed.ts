import { type FaultProxy, startFaultProxy } from '@causeway/localnet'
import { createJsonRpcClient, createQuorumClient, type QuorumClient, type QuorumLimits } from '@causeway/rpc'
import { onTestFinished } from 'vitest'
import {
  createSolanaFactsReader,
  type SolanaFactsReader,
  type SolanaReaderLimits,
} from '../../../packages/families/src/solana/reading/factsReader.ts'
import { solanaHeadTracking } from '../../../packages/families/src/solana/reading/requests.ts'
import { solanaSettlingChain } from '../../../packages/families/src/solana/settling/solanaSettlingChain.ts'
import type { SolanaBed } from './startSolanaBed.ts'

export { type SendOptions, type SolanaBed, startSolanaBed } from './startSolanaBed.ts'

export type ReaderSettings = {
  /** Default: one endpoint, the node itself. */
  readonly urls?: readonly string[]
  readonly threshold?: number
  readonly quorumLimits?: Partial<QuorumLimits>
  readonly limits?: Partial<SolanaReaderLimits>
  readonly fillPayers?: readonly string[]
}
export type OpenReader = { readonly reader: SolanaFactsReader; readonly quorum: QuorumClient }

export function openReader(
  bed: Pick<SolanaBed, 'url' | 'depository'>,
  { urls = [bed.url], threshold, quorumLimits, limits, fillPayers }: ReaderSettings = {},
): OpenReader {
  const quorum = createQuorumClient({
    chainId: 'solana',
    endpoints: urls.map((url, index) => ({ url, alias: `e${index + 1}` })),
    limits: { readingTimeoutMs: 30_000, requestTimeoutMs: 20_000, ...quorumLimits },
    ...(threshold !== undefined && { threshold }),
  })
  const depository = bed.depository.program.toBase58()
  const chain = { id: 'solana', depository, ...(fillPayers && { fillPayers }) }
  const reader = createSolanaFactsReader({ chain, quorum, ...(limits !== undefined && { limits }) })
  return { reader, quorum }
}

/** A reader that is closed when the test ends. */
export function readerOf(
  bed: Pick<SolanaBed, 'url' | 'depository'>,
  settings: ReaderSettings = {},
): OpenReader {
  const opened = openReader(bed, settings)
  onTestFinished(() => opened.quorum.close())
  return opened
}

/** Proxies in front of the node, stopped when the test ends. */
export async function proxiesOf(bed: Pick<SolanaBed, 'url'>, count: number): Promise<readonly FaultProxy[]> {
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

/** The cluster as settlement reads it, closed when the test ends. */
export function settlingOf(
  bed: Pick<SolanaBed, 'url' | 'depository'>,
  urls: readonly string[] = [bed.url],
): ReturnType<typeof solanaSettlingChain> {
  const client = createJsonRpcClient({
    chainId: 'solana',
    endpoints: urls.map((url) => ({ url })),
    headTracking: solanaHeadTracking,
  })
  onTestFinished(() => client.close())
  const depository = bed.depository.program.toBase58()
  const quoted = { config: { blockTimeMs: 400 }, currencies: [] }
  return solanaSettlingChain({ chain: { id: 'solana', depository }, client, quoted })
}
