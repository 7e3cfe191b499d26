import {
  type ChainClient,
  type ChainGate,
  type ChainRegistry,
  connectQuotingChain,
  countVoices,
  type Electorate,
  openNetworkReaders,
  warnOfUncheckedCode,
} from '@causeway/chains'
import type { QuoteFile } from '@causeway/core'
import type { HttpMetrics, Tracing } from '@causeway/http'
import { createMarket, type Market, type MarketLog } from '@causeway/market'
import { createAgreementMetrics, createEndpointMetrics, watchMarket } from '@causeway/service'
import type { Logger } from 'pino'
import type { QuoteApiConfig } from '../config/config.ts'
import type { QuoteRegistry } from '../pricing/registry.ts'
import { createPriceAdapters, sourceReach } from './priceAdapters.ts'

/** Starts to read prices, gas and pools of every chain that has a client. */
export async function startMarket(options: {
  config: QuoteApiConfig
  chains: ChainRegistry
  quote: QuoteFile
  clients: ReadonlyMap<string, ChainClient>
  gates: ReadonlyMap<string, ChainGate>
  metrics: HttpMetrics
  tracing: Tracing | undefined
  logger: Logger
}): Promise<Market> {
  const { config, chains, quote, clients, gates, metrics, tracing, logger } = options
  const market = createMarket({
    config: quote,
    clients,
    gates,
    readers: openNetworkReaders(chains.chains, quote.chains, clients),
    reach: sourceReach(config, chains),
    onReport: createAgreementMetrics(metrics),
    adapters: createPriceAdapters(config.priceAdapters, quote),
    log: logger,
  })
  const observerOf = createEndpointMetrics(metrics, tracing)
  for (const [key, client] of clients) client.observe((endpoint) => observerOf(key, endpoint))
  watchMarket(metrics, () => market.health())
  await market.start()
  return market
}

/** Chains that are quoted, or only read for a price, need a client; those without endpoints have none. */
export function createClients(
  { chains }: ChainRegistry,
  registry: QuoteRegistry,
  logger: Logger,
): ReadonlyMap<string, ChainClient> {
  const clients = new Map<string, ChainClient>()
  warnOfUncheckedCode(chains.values(), logger)
  for (const chain of chains.values()) {
    const { id, unsetVariables } = chain
    if (!registry.chains.some(({ key }) => key === id)) continue
    const client = connectQuotingChain(chain)
    if (client !== undefined) {
      warnOfFewVoices(id, client.electorate, logger)
      clients.set(id, client)
    } else {
      logger.warn({ chain: id, unsetVariables }, 'chain has no endpoint and cannot be priced')
    }
  }
  return clients
}

/** Says at start what the endpoints of a chain cannot give. @source design.md 7.4 */
export function warnOfFewVoices(chain: string, { voters, threshold }: Electorate, log: MarketLog): void {
  const hosts = countVoices(voters)
  const figures = { chain, hosts, required: threshold }
  if (hosts === 1) {
    log.warn(figures, 'one endpoint host: nothing that is read of this chain is agreed, it may say anything')
  } else if (threshold === hosts) {
    log.warn(figures, 'every endpoint host must answer: this chain is not priced while one of them is silent')
  } else if (2 * threshold <= hosts) {
    log.warn(figures, 'a minority of the endpoint hosts is enough to be believed: raise rpcThreshold')
  }
}
