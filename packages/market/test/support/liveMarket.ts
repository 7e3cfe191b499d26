import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type QuoteFile, quoteFileSchema } from '@causeway/core/config'
import { type FaultProxy, startFaultProxy, startTestNetwork, type TestNetwork } from '@causeway/localnet'
import { createJsonRpcClient, type JsonRpcClient } from '@causeway/rpc'
import { z } from 'zod'
import { createMarket, type MarketOptions } from '../../src/createMarket.ts'
import { localHosts } from '../../src/prices/secondSource.ts'
import type { Market } from '../../src/runMarket.ts'

const quoteFilePath = resolve(fileURLToPath(import.meta.url), '../../../../../configs/quote.local.json')

/** Real nodes that mine every second, a fault proxy before each, and the market of the local configuration. */
export type LiveMarket = {
  readonly network: TestNetwork
  readonly proxies: { readonly base: FaultProxy; readonly optimism: FaultProxy }
  readonly config: QuoteFile
  readonly market: Market
  /** Another market over the same proxies. */
  open(options?: Partial<MarketOptions>): Market
  stop(): Promise<void>
}

export async function startLiveMarket(options: Partial<MarketOptions> = {}): Promise<LiveMarket> {
  const network = await startTestNetwork({ blockTimeSeconds: 1 })
  const { base, optimism } = network.chains
  const proxies = {
    base: await startFaultProxy({ targetUrl: base.url }),
    optimism: await startFaultProxy({ targetUrl: optimism.url }),
  }
  const config = await readLocalQuoteFile(network)
  const markets: Market[] = []
  const clients: JsonRpcClient[] = []
  const open = (overrides: Partial<MarketOptions> = {}) => {
    const own = (['base', 'optimism'] as const).map((chainId) =>
      createJsonRpcClient({ chainId, endpoints: [{ url: proxies[chainId].url }] }),
    )
    clients.push(...own)
    const log = { info() {}, warn() {} }
    const byKey = new Map(own.map((client) => [client.chainId, client]))
    const market = createMarket({ config, clients: byKey, sourceHosts: localHosts, log, ...overrides })
    markets.push(market)
    return market
  }
  return {
    network,
    proxies,
    config,
    market: open(options),
    open,
    async stop() {
      for (const market of markets) market.close()
      await Promise.all(clients.map((client) => client.close()))
      await Promise.all([proxies.base.stop(), proxies.optimism.stop()])
      await network.stop()
    },
  }
}

/** The local configuration at the pace of the test: a block a second, a head that is stale after eight seconds. */
export async function readLocalQuoteFile(network: TestNetwork): Promise<QuoteFile> {
  const input = z
    .looseObject({ chains: z.record(z.string(), z.looseObject({ publicRpcUrl: z.unknown().optional() })) })
    .parse(JSON.parse(await readFile(quoteFilePath, 'utf8')))
  const fillWallet = network.keys.fillWallet.address
  // Quoted chains that the network runs; others have placeholders.
  const run = Object.fromEntries(
    Object.entries(input.chains)
      .filter(([key]) => key in network.chains)
      .map(([key, { publicRpcUrl: _placeholder, ...chain }]) => [key, chain]),
  )
  const file = quoteFileSchema.parse({ ...input, chains: run, fillWallet })
  const chains = Object.fromEntries(
    Object.entries(file.chains).map(([key, chain]) => [
      key,
      { ...chain, blockTimeMs: 1_000, headMaxAgeMs: 8_000 },
    ]),
  )
  return { ...file, chains }
}
