import type { Hex } from '@causeway/core'
import {
  type ChainDeployment,
  type FaultProxy,
  type LocalAccount,
  type LocalChain,
  startFaultProxy,
  startTestNetwork,
  type TestNetwork,
} from '@causeway/localnet'
import { onTestFinished } from 'vitest'
import {
  createEthereumFactsReader,
  createQuorumClient,
  type EthereumFactsReader,
  type EthereumFactsReaderOptions,
  type QuorumClient,
  type QuorumLimits,
} from '../../src/index.ts'

type ChainOptions = EthereumFactsReaderOptions['chain']

export type ReaderSettings = Partial<Omit<ChainOptions, 'id'>> & {
  /** Default: one endpoint, the node itself. */
  readonly urls?: readonly string[]
  readonly threshold?: number
  /** Default: two blocks. */
  readonly hasDefaultFinality?: boolean
  readonly quorumLimits?: Partial<QuorumLimits>
  readonly limits?: EthereumFactsReaderOptions['limits']
}

export type MinedTransaction = {
  readonly transactionId: Hex
  readonly blockNumber: bigint
  readonly logIndex: number
}

/** One chain of the test network with its contracts, and readers of it. */
export type ChainBed = {
  readonly network: TestNetwork
  readonly chain: LocalChain
  readonly deployment: ChainDeployment
  readonly url: string
  /** Sends one transaction and waits for it. `logIndex` is the index of its first log. */
  send(from: LocalAccount, to: Hex, data?: Hex, value?: bigint): Promise<MinedTransaction>
  mine(blocks?: number): Promise<void>
  /** A call that viem has no name for. */
  node(method: string, params: readonly unknown[]): Promise<unknown>
  stop(): Promise<void>
}

const finalAfterTwo = { mode: 'depth', blocks: 2 } as const

export async function startChainBed(): Promise<ChainBed> {
  const network = await startTestNetwork()
  const { chain, url } = network.chains.base
  return {
    network,
    chain,
    url,
    deployment: network.deployment.base,
    async send(from, to, data = '0x', value = 0n) {
      const transactionId = await chain.as(from).walletClient.sendTransaction({ to, data, value })
      for (;;) {
        const receipt = await chain.client.request({
          method: 'eth_getTransactionReceipt',
          params: [transactionId],
        })
        if (receipt !== null) {
          const logIndex = Number(receipt.logs[0]?.logIndex ?? '0x0')
          return { transactionId, blockNumber: BigInt(receipt.blockNumber), logIndex }
        }
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
    },
    mine: (blocks = 1) => network.mine('base', blocks),
    node: (method, params) => rpc(url, method, params),
    stop: () => network.stop(),
  }
}

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
  const { urls = [bed.url], threshold, quorumLimits, limits, hasDefaultFinality, ...chain } = settings
  const quorum = createQuorumClient({
    chainId: 'base',
    endpoints: urls.map((url, index) => ({ url, alias: `e${index + 1}` })),
    now: Date.now,
    limits: { readingTimeoutMs: 30_000, requestTimeoutMs: 20_000, ...quorumLimits },
    ...(threshold !== undefined && { threshold }),
  })
  const reader = createEthereumFactsReader({
    chain: {
      id: 'base',
      depository: bed.deployment.depository,
      ...(hasDefaultFinality !== true && { finality: finalAfterTwo }),
      ...chain,
    },
    quorum,
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

async function rpc(url: string, method: string, params: readonly unknown[]): Promise<unknown> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  const body: unknown = await response.json()
  if (typeof body !== 'object' || body === null || !('result' in body)) throw new Error(`${method} failed`)
  return body.result
}
