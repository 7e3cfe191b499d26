import { readFileSync } from 'node:fs'
import {
  type ChainClient,
  type ChainRegistry,
  createJsonRpcClient,
  type RegisteredChain,
} from '@causeway/chains'
import { createOrderIdHasher, type QuoteFile } from '@causeway/core'
import {
  type Closer,
  createAdminListener,
  createHttpMetrics,
  createLogger,
  createOpsListener,
  createReadiness,
  type HttpApp,
  openListener,
  type Readiness,
} from '@causeway/http'
import { type ConfiguredSigner, createConfiguredSigner } from '@causeway/signer'
import type { Logger } from 'pino'
import { createAccess, findSponsorshipChain } from './access.ts'
import { createAccuracy } from './accuracy.ts'
import { registerAdmin } from './admin/registerAdmin.ts'
import { createAdministration, loadPeppers } from './administration.ts'
import { buildApp } from './app.ts'
import { createAppBalance } from './appBalance.ts'
import { createAppFees } from './appFees.ts'
import { checkChains } from './checkChains.ts'
import { openCommandChain } from './cli/commandChain.ts'
import type { QuoteApiConfig } from './config.ts'
import { loadFiles } from './configuration.ts'
import { type OpenDatabase, openDatabase } from './database.ts'
import { createDatabaseWait, type DatabaseWait } from './databaseWait.ts'
import { createDepositAddresses, storeWithAddresses } from './depositAddresses.ts'
import { errorPolicy } from './errorPolicy.ts'
import { createAgreementMetrics, warnOfFewVoices } from './market/agreementMetrics.ts'
import { systemClock } from './market/clock.ts'
import { createMarket } from './market/createMarket.ts'
import { planMarket } from './market/plan.ts'
import type { Market } from './market/runMarket.ts'
import { createOnChainQuoter } from './onChainQuoter.ts'
import { createOrderStore } from './orders/orderStore.ts'
import { toStoredOrder } from './orders/toStoredOrder.ts'
import { createPermits } from './permits.ts'
import { createChainPorts } from './ports.ts'
import { createPriceAdapters, sourceReach } from './priceAdapters.ts'
import type { SponsoredQuoteDependencies } from './quoting/createSponsoredQuote.ts'
import { createInventoryViews } from './quoting/inventoryView.ts'
import { createOpenQuotes } from './quoting/openQuotes.ts'
import { createPoolLegQuoter } from './quoting/poolLegQuoter.ts'
import { createRegistry, type QuoteRegistry } from './quoting/registry.ts'
import { createRandomPool } from './randomPool.ts'
import { keepSaid } from './selfExecution/saidTransactions.ts'
import { createSettlement } from './settlement.ts'
import { withSolverKey } from './solver/solverKey.ts'
import { createSolverWork } from './solver/solverWork.ts'
import { createSponsorship } from './sponsorship.ts'
import { createRequestStatuses } from './status/requestStatus.ts'
import { createWebhooks } from './webhooks.ts'

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

/**
 * Builds the whole service: reads keys and files, opens the database, checks chains against
 * configuration, starts the market. Nothing listens yet but what tells that the database is waited for.
 * @param variables the environment with secrets merged in; chain files name variables of it
 * @throws ConfigurationError naming the setting that must not run
 */
export async function createQuoteApi(
  config: QuoteApiConfig,
  variables: Readonly<Record<string, string | undefined>>,
): Promise<QuoteApi> {
  const logger = createLogger({ service: 'quote-api', level: config.logLevel })
  const signer = await openSigner(variables, logger)
  const { chains, quote } = await loadFiles(config, variables, signer.address)
  const registry = createRegistry(quote, [...chains.chains.values()])
  // Prices that contradict themselves are refused before anything is opened.
  planMarket(quote, sourceReach(config, chains))
  const clients = createClients([...chains.chains.values()], registry, logger)
  const adminListener = createAdminListener({
    logger,
    errors: errorPolicy,
    host: config.admin.host,
    isLocal: config.isLocal,
    ...(config.admin.apiKey !== undefined && { apiKey: config.admin.apiKey }),
  })
  await checkChains({ environment: config.environment, file: quote, registry, clients, log: logger })

  const wait = createDatabaseWait(config, logger)
  const opened = await openDatabase(config, {
    wait,
    log: (message) => logger.info(message),
    onConnectionLost: (error) => logger.warn({ err: error }, 'database connection lost'),
    onDiskFull: (full) =>
      full === undefined
        ? logger.info('the disk of the database has space again')
        : logger.error({ err: full }, 'the disk of the database is full'),
  }).catch(async (error: unknown) => {
    await wait.close()
    throw error
  })
  try {
    const parts = { config, variables, logger, signer, quote, chains, registry, clients, adminListener }
    return await assemble({ ...parts, ...opened, wait })
  } catch (error) {
    // A process that ends now would leave its own server running for nobody.
    await wait.close()
    await opened.close()
    throw error
  }
}

type Parts = OpenDatabase & {
  /** Holds the ports where the database had to be waited for. */
  readonly wait: DatabaseWait
  readonly config: QuoteApiConfig
  readonly variables: Readonly<Record<string, string | undefined>>
  readonly logger: Logger
  readonly signer: ConfiguredSigner
  readonly quote: QuoteFile
  readonly chains: ChainRegistry
  readonly registry: QuoteRegistry
  readonly clients: ReadonlyMap<string, ChainClient>
  readonly adminListener: HttpApp
}

/** Everything that is built once keys, files, chains and database are known to be good. */
async function assemble(parts: Parts): Promise<QuoteApi> {
  const { config, logger, signer, quote, chains, registry, clients, adminListener, database } = parts
  const metrics = createHttpMetrics({ service: 'quote-api' })
  const market = createMarket({
    config: quote,
    clients,
    reach: sourceReach(config, chains),
    onReport: createAgreementMetrics(metrics),
    adapters: createPriceAdapters(config.priceAdapters, quote),
    log: logger,
  })
  await market.start()

  const readiness = createReadiness({
    checks: [
      { name: 'database', check: () => database.ping() },
      { name: 'market', check: async () => requireUsableChain(market, registry) },
    ],
    onFailure: (name, error) => logger.warn({ check: name, err: error }, 'readiness check failed'),
  })
  const orders = createOrderStore({ database })
  const sponsorshipChain = findSponsorshipChain(registry, clients)
  const { chainId } = sponsorshipChain
  const sponsorship = createSponsorship({ database, quote, registry, chainId, logger })
  const peppers = await loadPeppers(config)
  const randomBytes = createRandomPool()
  registerAdmin(adminListener, createAdministration({ config, database, peppers }), {
    database,
    chain: (signal) => openCommandChain({ config, variables: parts.variables, database, signal }),
  })
  const pricing = {
    registry,
    schedule: quote.schedule,
    swapImpactMaxBps: quote.swapImpactMaxBps,
    ceilings: quote.ceilings,
    snapshot: () => market.snapshot(),
    inventoryView: createInventoryViews(registry),
    legQuoter: createPoolLegQuoter(createOnChainQuoter(registry, clients, () => market.snapshot())),
    sponsorAsset: sponsorship.sponsorAsset,
  }
  const settlement = createSettlement({
    chains,
    registry,
    lateDeposits: quote.lateDeposits,
    pricing,
    clients,
    oracles: config.oracles,
    database,
    ledger: sponsorship.ledger,
    metrics,
    logger,
  })
  const webhooks = createWebhooks({ config, database, peppers, metrics, logger })
  const appFees = createAppFees({
    registry,
    snapshot: () => market.snapshot(),
    clients,
    chains: settlement.chains,
    database,
    publicUrl: config.publicUrl,
    randomBytes,
    metrics,
    logger,
  })
  const accuracy = createAccuracy({
    database,
    chains: settlement.chains,
    clients,
    snapshot: () => market.snapshot(),
    registry,
    metrics,
    logger,
  })
  const access = createAccess({
    database,
    peppers,
    chain: sponsorshipChain,
    publicUrl: config.publicUrl,
    randomBytes,
    logger,
  })
  const { fillWallet, quoteLifetimeSeconds, orderLifetimeSeconds } = quote
  const permits = createPermits({ registry, clients, database })
  const quoting: SponsoredQuoteDependencies = {
    ...pricing,
    quoteLifetimeSeconds,
    orderLifetimeSeconds,
    openQuotes: createOpenQuotes({ perUserBps: quote.openQuotesPerUserBps }),
    fillWallet,
    ...createChainPorts({
      registry,
      clients,
      market,
      clock: systemClock,
      onFactsFailure: (chainId, error) => logger.debug({ chainId, err: error }, 'user facts not read'),
    }),
    reactionMsOf: accuracy.reactionTimes.of,
    clock: systemClock,
    signer,
    orderIdOf: createOrderIdHasher(registry.networkByKey),
    permitTokens: permits.permitTokens,
    ...storeWithAddresses(
      { database, ledger: sponsorship.ledger },
      {
        store: (record) => orders.save(toStoredOrder(record)),
        storeSponsored: sponsorship.storeSponsored,
      },
    ),
    sponsors: access.sponsors,
    onExploitableFeePayer: sponsorship.onExploitableFeePayer,
    randomBytes,
  }
  const depositAddresses = createDepositAddresses({
    chains,
    clients,
    settlementChains: settlement.chains,
    database,
    ledger: sponsorship.ledger,
    quoting,
    logger,
  })
  const appBalance = createAppBalance({
    config,
    chains,
    registry,
    chain: sponsorshipChain,
    database,
    openSingle: parts.openSingle,
    ledger: sponsorship.ledger,
    metrics,
    moreJobs: [...settlement.jobs, ...depositAddresses.jobs, ...appFees.jobs, webhooks.job, accuracy.job],
    logger,
  })
  const app = await buildApp({
    ...sponsorship,
    ...access,
    ...quoting,
    servers: quote.servers,
    environment: config.environment,
    rateLimits: {
      perKeyMax: config.rateLimits.perKeyMax ?? quote.rateLimits.perKeyPerSecond,
      perIpMax: config.rateLimits.perIpMax ?? quote.rateLimits.perIpPerSecond,
    },
    trustedProxies: config.trustedProxies,
    marketHealth: () => market.health(),
    apiKeys: withSolverKey(access.apiKeys, config.solverApiKey),
    balances: appBalance.balances,
    claims: appBalance.claims,
    appFeeClaims: appFees.appFeeClaims,
    takePermit: permits.takePermit,
    say: (said) => keepSaid(database, said),
    statuses: createRequestStatuses({ database }),
    hint(chainId) {
      settlement.hint(chainId)
      depositAddresses.hint(chainId)
    },
    solverWork: createSolverWork({
      database,
      onChange() {
        settlement.hint()
        depositAddresses.hint()
        appFees.wake()
      },
    }),
    logger,
    metrics,
    readiness,
  })
  appBalance.startJobs()
  accuracy.reactionTimes.start()
  const opsListener = createOpsListener({
    logger,
    errors: errorPolicy,
    registry: metrics.registry,
    readiness,
  })

  const closers: readonly Closer[] = [
    { name: 'public listener', close: () => app.close() },
    { name: 'admin listener', close: () => adminListener.close() },
    { name: 'jobs', close: () => appBalance.close() },
    { name: 'reaction times', close: () => accuracy.reactionTimes.close() },
    { name: 'webhooks', close: () => webhooks.close() },
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
    await parts.wait.close()
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
        await parts.wait.close()
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

/** The key must be there before anything else is opened: without it no quote can be signed. */
function openSigner(
  variables: Readonly<Record<string, string | undefined>>,
  logger: Logger,
): Promise<ConfiguredSigner> {
  return createConfiguredSigner({
    environment: variables,
    readFile: (path) => readFileSync(path, 'utf8'),
    warn: (message) => logger.warn(message),
    isThreaded: true,
  })
}

/** Chains that are quoted, or only read for a price, need a client; those without endpoints have none. */
function createClients(
  chains: readonly RegisteredChain[],
  registry: QuoteRegistry,
  logger: Logger,
): ReadonlyMap<string, ChainClient> {
  const clients = new Map<string, ChainClient>()
  for (const { id, vmType, endpoints, rpcThreshold, unsetVariables } of chains) {
    const isQuoted = registry.chains.some(({ key }) => key === id)
    if (endpoints.length > 0 && vmType === 'ethereum-vm') {
      const client = createJsonRpcClient({
        chainId: id,
        endpoints: endpoints.map((url) => ({ url })),
        threshold: rpcThreshold,
        now: () => Date.now(),
      })
      warnOfFewVoices(id, client.electorate, logger)
      clients.set(id, client)
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
