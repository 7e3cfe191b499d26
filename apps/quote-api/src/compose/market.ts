import { type ChainGate, type ChainRegistry, connectQuotingChain, openNetworkReaders } from '@causeway/chains'
import type { QuoteFile } from '@causeway/core/config'
import { type RegisteredChain, warnOfUncheckedCode } from '@causeway/families'
import { createMarket, type Market, type MarketLog, systemClock } from '@causeway/market'
import { type ChainClient, countVoices, type Electorate } from '@causeway/rpc'
import {
  createAgreementMetrics,
  createEndpointMetrics,
  type ServiceParts,
  watchMarket,
} from '@causeway/service'
import type { Logger } from 'pino'
import type { QuoteApiConfig } from '../config/config.ts'
import type { QuoteRegistry } from '../pricing/registry.ts'
import type { DatabaseClock } from '../requests/stops/databaseClock.ts'
import { createPriceAdapters, sourceReach } from './priceAdapters.ts'

type MarketParts = {
  readonly config: QuoteApiConfig
  readonly chains: ChainRegistry
  readonly quote: QuoteFile
  readonly clients: ReadonlyMap<string, ChainClient>
  /** By key, of chains that did not answer at the start: nothing is read of one before its gate resolves. */
  readonly gates: ReadonlyMap<string, ChainGate>
  readonly clock: DatabaseClock
}

/** Market of every chain that has a client: prices, gas and pools. Reads nothing before its `start`. */
export function openMarket(
  { metrics, tracing, logger, onClose }: ServiceParts<'jobs'>,
  { config, chains, quote, clients, gates, clock }: MarketParts,
): Market {
  const market = createMarket({
    config: quote,
    clients,
    gates,
    readers: openNetworkReaders(chains.chains, quote.chains, clients),
    sourceHosts: sourceReach(config, chains),
    onReport: createAgreementMetrics(metrics),
    adapters: createPriceAdapters(config.priceAdapters, quote),
    clock: { ...systemClock, now: () => clock.now() },
    log: logger,
  })
  onClose('jobs', 'market', () => market.close())
  const observerOf = createEndpointMetrics(metrics, tracing)
  for (const [key, client] of clients) client.observe((endpoint) => observerOf(key, endpoint))
  watchMarket(metrics, () => market.health())
  return market
}

/**
 * Chains of the quote file, each with its client; those without endpoints have none. Opens no connection yet.
 */
export function connectChains(
  { chains }: ChainRegistry,
  registry: Pick<QuoteRegistry, 'chains'>,
): readonly { readonly chain: RegisteredChain; readonly client: ChainClient | undefined }[] {
  return [...chains.values()]
    .filter(({ id }) => registry.chains.some(({ key }) => key === id))
    .map((chain) => ({ chain, client: connectQuotingChain(chain) }))
}

/** Opens a client for each chain with endpoints, and warns of what is missing or weak. */
export function createClients(
  chains: ChainRegistry,
  registry: QuoteRegistry,
  logger: Logger,
): ReadonlyMap<string, ChainClient> {
  const clients = new Map<string, ChainClient>()
  warnOfUncheckedCode(chains.chains.values(), logger)
  for (const { chain, client } of connectChains(chains, registry)) {
    const { id, unsetVariables } = chain
    if (client !== undefined) {
      warnOfFewVoices(id, client.electorate, logger)
      clients.set(id, client)
    } else {
      logger.warn({ chain: id, unsetVariables }, 'chain has no endpoint and cannot be priced')
    }
  }
  return clients
}

/** Warns if a chain's endpoints are too few to agree, or if too few of them are enough to be believed. */
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
