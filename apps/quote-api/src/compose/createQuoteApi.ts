import { readFileSync } from 'node:fs'
import {
  type ChainGate,
  type ChainRegistry,
  checkChainsAtStart,
  type KeptDenyList,
  openDenyList,
} from '@causeway/chains'
import type { QuoteFile } from '@causeway/core/config'
import type { Database } from '@causeway/database'
import { createAdminListener, type HttpApp, watchPool } from '@causeway/http'
import { planMarket } from '@causeway/market'
import type { ChainClient } from '@causeway/rpc'
import {
  composeService,
  logDenyList,
  registerDenyList,
  type ServiceParts,
  traceDatabase,
} from '@causeway/service'
import {
  type ConfiguredSigner,
  checkHubKey,
  createConfiguredSigner,
  hasHubKey,
  hubKeyPrefix,
} from '@causeway/signer'
import type { Logger } from 'pino'
import { evidenceKeyPrefix, hasEvidenceKey, type QuoteApiConfig } from '../config/config.ts'
import { loadFiles } from '../config/configuration.ts'
import { adminDescription } from '../http/admin/adminOperation.ts'
import { errorPolicy } from '../http/errorPolicy.ts'
import { chainChecks } from '../operate/checkChains.ts'
import { type OpenDatabase, openDatabase } from '../operate/database.ts'
import { createDatabaseWait, type DatabaseWait } from '../operate/databaseWait.ts'
import { createRegistry, type QuoteRegistry } from '../pricing/registry.ts'
import { checkEvidenceKey } from '../requests/timeline/signTimeline.ts'
import { assemble, type QuoteApi } from './assemble.ts'
import { createClients } from './market.ts'
import { sourceReach } from './priceAdapters.ts'

/** Checked configuration, keys and clients that quote-api is assembled from. */
export type World = Keys & {
  readonly config: QuoteApiConfig
  readonly variables: Variables
  readonly quote: QuoteFile
  readonly chains: ChainRegistry
  readonly registry: QuoteRegistry
  readonly clients: ReadonlyMap<string, ChainClient>
  /** By chain key, of chains that did not answer at the start: nothing is read of one before its gate resolves. */
  readonly gates: ReadonlyMap<string, ChainGate>
  readonly adminListener: HttpApp
  /** Undefined where none is configured. */
  readonly denyList: KeptDenyList | undefined
  /** Answers on the service's ports while the database is waited for. */
  readonly wait: DatabaseWait
  /** Pool whose statements are traced. */
  readonly database: Database
  /** Opens a client with one connection of its own, e.g. for locks of jobs. */
  readonly openSingle: OpenDatabase['openSingle']
  readonly listen: OpenDatabase['listen']
}

type Keys = {
  /** Signs orders and promises. */
  readonly signer: ConfiguredSigner
  /** Signs timelines; undefined where none are signed. */
  readonly evidenceKey: ConfiguredSigner | undefined
  /** Pays for entries on the hub; undefined where none is configured. */
  readonly hubSigner: ConfiguredSigner | undefined
}

type Variables = Readonly<Record<string, string | undefined>>

/**
 * Builds the whole service: reads keys and files, opens the database, checks chains against
 * configuration, starts the market. No listener is open yet, except the one that answers while the database is waited for.
 * @param variables the environment with secrets merged in; chain files name variables of it
 * @throws ConfigurationError naming the setting that must not run
 */
export function createQuoteApi(config: QuoteApiConfig, variables: Variables): Promise<QuoteApi> {
  const { logLevel, tracing } = config
  return composeService({ name: 'quote-api', logLevel, tracing, errors: errorPolicy }, async (service) =>
    assemble(service, await openWorld(service, config, variables)),
  )
}

/**
 * In this order: keys and files, which can end the start at once; the checks of chains, which need clients;
 * the database at last, for which a start may wait long, with the service's ports answering that it waits.
 */
async function openWorld(
  service: ServiceParts,
  config: QuoteApiConfig,
  variables: Variables,
): Promise<World> {
  const { logger } = service
  const keys = await openKeys(service, variables)
  const { chains, quote } = await loadFiles(config, variables, keys.signer.address)
  const registry = createRegistry(quote, [...chains.chains.values()], {
    custody: config.topUps.custody,
  })
  // Called for its refusal only: prices that contradict themselves end the start before a chain is asked.
  planMarket(quote, sourceReach(config, chains))
  const clients = openClients(service, chains, registry)
  const { environment } = config
  const checks = chainChecks({ environment, file: quote, registry, chains: chains.chains, clients })
  const [gates, denyList, adminListener] = await Promise.all([
    checkChainsAtStart(checks, logger),
    openDenyList(config.denyList, { now: () => performance.now(), observe: logDenyList(logger) }),
    openAdminListener(service, config),
  ])
  registerDenyList(service, denyList)
  const databaseParts = await openServiceDatabase(service, config)
  const files = { quote, chains, registry, clients, gates }
  return { config, variables, adminListener, denyList, ...keys, ...files, ...databaseParts }
}

/** Opens the order signer, and the evidence and hub key where they are set; each must be a key of its own. */
async function openKeys(
  { logger, onClose }: ServiceParts<'connections'>,
  variables: Variables,
): Promise<Keys> {
  const signer = await openSigner(variables, logger)
  onClose('connections', 'signer', () => signer.close())
  const evidenceKey = hasEvidenceKey(variables)
    ? await openSigner(variables, logger, evidenceKeyPrefix)
    : undefined
  onClose('connections', 'evidence key', () => evidenceKey?.close())
  checkEvidenceKey(evidenceKey?.address, signer.address)
  const hubSigner = hasHubKey(variables) ? await openSigner(variables, logger, hubKeyPrefix) : undefined
  onClose('connections', 'hub key', () => hubSigner?.close())
  checkHubKey(hubSigner?.address, [signer.address, evidenceKey?.address])
  return { signer, evidenceKey, hubSigner }
}

function openClients(
  { logger, onClose }: ServiceParts<'connections'>,
  chains: ChainRegistry,
  registry: QuoteRegistry,
): ReadonlyMap<string, ChainClient> {
  const clients = createClients(chains, registry, logger)
  onClose('connections', 'chain clients', () =>
    Promise.all([...clients.values()].map((client) => client.close())),
  )
  return clients
}

async function openAdminListener(
  { logger, onClose }: ServiceParts<'listeners'>,
  { admin, isLocal }: QuoteApiConfig,
): Promise<HttpApp> {
  const listener = await createAdminListener({
    logger,
    errors: errorPolicy,
    host: admin.host,
    isLocal,
    openApi: adminDescription,
    ...(admin.apiKey !== undefined && { apiKey: admin.apiKey }),
  })
  onClose('listeners', 'admin listener', () => listener.close())
  return listener
}

/** Opens the database, and waits for one that starts or recovers. */
async function openServiceDatabase(
  { logger, metrics, tracing, check, onClose }: ServiceParts<'listeners' | 'state'>,
  config: QuoteApiConfig,
) {
  const wait = createDatabaseWait(config, { errors: errorPolicy, logger })
  onClose('listeners', 'wait for the database', () => wait.close())
  const opened = await openDatabase(config, {
    wait,
    log: (message) => logger.info(message),
    onConnectionLost: (error) => logger.warn({ err: error }, 'database connection lost'),
    onDiskFull: (full) =>
      full === undefined
        ? logger.info('the disk of the database has space again')
        : logger.error({ err: full }, 'the disk of the database is full'),
  })
  // A local database server that this process started has to stop with it.
  onClose('state', 'database', () => opened.close())
  const database = traceDatabase(opened.database, tracing)
  check({ name: 'database', check: () => database.ping() })
  watchPool(metrics, () => database.usage())
  return { wait, database, openSingle: opened.openSingle, listen: opened.listen }
}

/**
 * Opens a key before anything else: without it no quote, timeline or hub entry can be signed.
 * @param prefix of the key's variables; none for the order signer
 */
function openSigner(variables: Variables, logger: Logger, prefix?: string): Promise<ConfiguredSigner> {
  return createConfiguredSigner({
    environment: variables,
    readFile: (path) => readFileSync(path, 'utf8'),
    warn: (message) => logger.warn(message),
    ...(prefix !== undefined && { prefix }),
    // The order signer works at each quote, so it gets a thread; the other keys sign seldom.
    isThreaded: prefix === undefined,
  })
}
