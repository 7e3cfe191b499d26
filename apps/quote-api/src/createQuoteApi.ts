import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { createJsonRpcClient, type JsonRpcClient, type RegisteredChain } from '@causeway/chains'
import { ConfigurationError, createOrderIdHasher, type QuoteFile } from '@causeway/core'
import {
  type Closer,
  createAdminListener,
  createHttpMetrics,
  createLogger,
  createOpsListener,
  createReadiness,
  type HttpApp,
  noApiKeys,
  type Readiness,
} from '@causeway/http'
import { createThreadedSigner, readPrivateKeySetting, type ThreadedSigner } from '@causeway/signer'
import type { Logger } from 'pino'
import { buildApp } from './app.ts'
import { checkChains } from './checkChains.ts'
import type { QuoteApiConfig } from './config.ts'
import { loadFiles } from './configuration.ts'
import { type OpenDatabase, openDatabase } from './database.ts'
import { errorPolicy } from './errorPolicy.ts'
import { systemClock } from './market/clock.ts'
import { createMarket } from './market/createMarket.ts'
import type { Market } from './market/runMarket.ts'
import { createOnChainQuoter } from './onChainQuoter.ts'
import { createOrderStore } from './orders/orderStore.ts'
import { toStoredOrder } from './orders/toStoredOrder.ts'
import { createChainPorts } from './ports.ts'
import { createPriceAdapters } from './priceAdapters.ts'
import { createInventoryViews } from './quoting/inventoryView.ts'
import { createPoolLegQuoter } from './quoting/poolLegQuoter.ts'
import { createRegistry, type QuoteRegistry } from './quoting/registry.ts'
import { createRandomPool } from './randomPool.ts'

export type QuoteApi = {
  /** The public listener. */
  readonly app: HttpApp
  readonly market: Market
  readonly logger: Logger
  readonly readiness: Readiness
  /** Opens all listeners, or none: when one cannot be opened, everything is closed. */
  listen(): Promise<ListenAddresses>
  /** In the order in which they must be closed. */
  readonly closers: readonly Closer[]
  /** Closes everything in that order, without draining first. */
  close(): Promise<void>
}

export type ListenAddresses = {
  readonly publicUrl: string
  readonly opsUrl: string
  readonly adminUrl: string
}

const migrations = fileURLToPath(new URL('../migrations', import.meta.url))

/**
 * Builds the whole service: reads keys and files, opens the database, checks chains against
 * configuration, starts the market. Nothing listens yet.
 * @param variables the environment with secrets merged in; chain files name variables of it
 * @throws ConfigurationError naming the setting that must not run
 */
export async function createQuoteApi(
  config: QuoteApiConfig,
  variables: Readonly<Record<string, string | undefined>>,
): Promise<QuoteApi> {
  const logger = createLogger({ service: 'quote-api', level: config.logLevel })
  const signer = loadSigner(variables)
  const { chains, quote } = await loadFiles(config, variables, signer.address)
  const registry = createRegistry(quote, [...chains.chains.values()])
  const clients = createClients([...chains.chains.values()], registry, logger)
  const adminListener = createAdminListener({
    logger,
    errors: errorPolicy,
    host: config.admin.host,
    ...(config.admin.apiKey !== undefined && { apiKey: config.admin.apiKey }),
  })
  await checkChains({ environment: config.environment, file: quote, registry, clients, log: logger })

  const opened = await openDatabase(config, {
    migrations,
    log: (message) => logger.info(message),
    onConnectionLost: (error) => logger.warn({ err: error }, 'database connection lost'),
  })
  try {
    return await assemble({ config, logger, signer, quote, registry, clients, adminListener, ...opened })
  } catch (error) {
    // A process that ends now would leave its own server running for nobody.
    await opened.close()
    throw error
  }
}

type Parts = OpenDatabase & {
  readonly config: QuoteApiConfig
  readonly logger: Logger
  readonly signer: ThreadedSigner
  readonly quote: QuoteFile
  readonly registry: QuoteRegistry
  readonly clients: ReadonlyMap<string, JsonRpcClient>
  readonly adminListener: HttpApp
}

/** Everything that is built once keys, files, chains and database are known to be good. */
async function assemble(parts: Parts): Promise<QuoteApi> {
  const { config, logger, signer, quote, registry, clients, adminListener, database } = parts
  const market = createMarket({
    config: quote,
    clients,
    adapters: createPriceAdapters(config.priceAdapters),
    log: logger,
  })
  await market.start()

  const metrics = createHttpMetrics({ service: 'quote-api' })
  const readiness = createReadiness({
    checks: [
      { name: 'database', check: () => database.ping() },
      { name: 'market', check: async () => requireUsableChain(market, registry) },
    ],
    onFailure: (name, error) => logger.warn({ check: name, err: error }, 'readiness check failed'),
  })
  const orders = createOrderStore({ database })
  const app = await buildApp({
    registry,
    schedule: quote.schedule,
    swapImpactMaxBps: quote.swapImpactMaxBps,
    quoteLifetimeSeconds: quote.quoteLifetimeSeconds,
    orderLifetimeSeconds: quote.orderLifetimeSeconds,
    servers: quote.servers,
    fillWallet: quote.fillWallet,
    environment: config.environment,
    rateLimits: {
      perKeyMax: config.rateLimits.perKeyMax ?? quote.rateLimits.perKeyPerSecond,
      perIpMax: config.rateLimits.perIpMax ?? quote.rateLimits.perIpPerSecond,
    },
    trustedProxies: config.trustedProxies,
    snapshot: () => market.snapshot(),
    marketHealth: () => market.health(),
    inventoryView: createInventoryViews(registry),
    legQuoter: createPoolLegQuoter(createOnChainQuoter(registry, clients)),
    ...createChainPorts({
      registry,
      clients,
      market,
      clock: systemClock,
      onFactsFailure: (chainId, error) => logger.debug({ chainId, err: error }, 'user facts not read'),
    }),
    clock: systemClock,
    signer,
    orderIdOf: createOrderIdHasher(registry.vmTypeByKey),
    store: (record) => orders.save(toStoredOrder(record)),
    randomBytes: createRandomPool(),
    apiKeys: noApiKeys,
    logger,
    metrics,
    readiness,
  })
  const opsListener = createOpsListener({
    logger,
    errors: errorPolicy,
    registry: metrics.registry,
    readiness,
  })

  const closers: readonly Closer[] = [
    { name: 'public listener', close: () => app.close() },
    { name: 'admin listener', close: () => adminListener.close() },
    { name: 'market', close: async () => market.close() },
    {
      name: 'chain clients',
      close: () => Promise.all([...clients.values()].map((client) => client.close())),
    },
    { name: 'signer', close: () => signer.close() },
    { name: 'database', close: parts.close },
    { name: 'ops listener', close: () => opsListener.close() },
  ]
  const close = async () => {
    for (const closer of closers) await closer.close()
  }
  return {
    app,
    market,
    logger,
    readiness,
    closers,
    close,
    async listen() {
      try {
        const [publicUrl, opsUrl, adminUrl] = await Promise.all([
          openListener(app, config.http, 'HTTP_PORT'),
          openListener(opsListener, config.ops, 'OPS_PORT'),
          openListener(adminListener, config.admin, 'ADMIN_PORT'),
        ])
        return { publicUrl, opsUrl, adminUrl }
      } catch (error) {
        await close()
        throw error
      }
    },
  }
}

/** @returns its URL. @throws ConfigurationError naming the setting of a port that cannot be had */
async function openListener(
  app: HttpApp,
  { host, port }: { host: string; port: number },
  setting: string,
): Promise<string> {
  try {
    return await app.listen({ host, port })
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    if (!/^E[A-Z]+$/.test(code)) throw error
    throw new ConfigurationError(`${setting}: port ${port} cannot be opened (${code}).`, { cause: error })
  }
}

/** The key must be there before anything else is opened: without it no quote can be signed. */
function loadSigner(variables: Readonly<Record<string, string | undefined>>): ThreadedSigner {
  const readFile = (path: string) => readFileSync(path, 'utf8')
  const privateKey = readPrivateKeySetting({ environment: variables, name: 'ECDSA_PRIVATE_KEY', readFile })
  if (privateKey === undefined) {
    throw new ConfigurationError(
      'ECDSA_PRIVATE_KEY or ECDSA_PRIVATE_KEY_FILE is required: it signs order ids.',
    )
  }
  return createThreadedSigner({ privateKey })
}

/** Chains that are quoted, or only read for a price, need a client; those without endpoints have none. */
function createClients(
  chains: readonly RegisteredChain[],
  registry: QuoteRegistry,
  logger: Logger,
): ReadonlyMap<string, JsonRpcClient> {
  const clients = new Map<string, JsonRpcClient>()
  for (const { id, vmType, endpoints, unsetVariables } of chains) {
    const isQuoted = registry.chains.some(({ key }) => key === id)
    if (endpoints.length > 0 && vmType === 'ethereum-vm') {
      clients.set(
        id,
        createJsonRpcClient({
          chainId: id,
          endpoints: endpoints.map((url) => ({ url })),
          now: () => Date.now(),
        }),
      )
    } else if (isQuoted) {
      logger.warn({ chain: id, unsetVariables }, 'chain has no endpoint and cannot be priced')
    }
  }
  return clients
}

/** @throws Error while no quotable chain can be priced */
function requireUsableChain(market: Market, registry: QuoteRegistry): void {
  const snapshot = market.snapshot()
  if (registry.chains.some(({ chainId }) => !('reason' in snapshot.chain(chainId)))) return
  throw new Error('no chain can be priced')
}
