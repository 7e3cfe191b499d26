import { readFileSync } from 'node:fs'
import { checkChainsAtStart, openDenyList } from '@causeway/chains'
import { createAdminListener } from '@causeway/http'
import { planMarket } from '@causeway/market'
import { createLogger, logDenyList } from '@causeway/service'
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
import { openDatabase } from '../operate/database.ts'
import { createDatabaseWait } from '../operate/databaseWait.ts'
import { createRegistry } from '../pricing/registry.ts'
import { checkEvidenceKey } from '../requests/timeline/signTimeline.ts'
import { assemble, type QuoteApi } from './assemble.ts'
import { createClients } from './market.ts'
import { sourceReach } from './priceAdapters.ts'

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
  const evidenceKey = hasEvidenceKey(variables)
    ? await openSigner(variables, logger, evidenceKeyPrefix)
    : undefined
  checkEvidenceKey(evidenceKey?.address, signer.address)
  const hubSigner = hasHubKey(variables) ? await openSigner(variables, logger, hubKeyPrefix) : undefined
  checkHubKey(hubSigner?.address, [signer.address, evidenceKey?.address])
  const { chains, quote } = await loadFiles(config, variables, signer.address)
  const registry = createRegistry(quote, [...chains.chains.values()], {
    custody: config.topUps.custody,
  })
  // Prices that contradict themselves are refused before anything is opened.
  planMarket(quote, sourceReach(config, chains))
  const clients = createClients(chains, registry, logger)
  const adminListener = await createAdminListener({
    logger,
    errors: errorPolicy,
    host: config.admin.host,
    isLocal: config.isLocal,
    openApi: adminDescription,
    ...(config.admin.apiKey !== undefined && { apiKey: config.admin.apiKey }),
  })
  const { environment } = config
  const checks = chainChecks({ environment, file: quote, registry, chains: chains.chains, clients })
  const gates = await checkChainsAtStart(checks, logger)

  const denyList = await openDenyList(config.denyList, {
    now: () => performance.now(),
    observe: logDenyList(logger),
  })
  const wait = createDatabaseWait(config, { errors: errorPolicy, logger })
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
    await denyList?.close()
    throw error
  })
  try {
    const parts = {
      config,
      variables,
      logger,
      signer,
      evidenceKey,
      hubSigner,
      quote,
      chains,
      registry,
      clients,
      gates,
      adminListener,
      denyList,
    }
    return await assemble({ ...parts, ...opened, wait })
  } catch (error) {
    // A process that ends now would leave its own server running for nobody.
    await wait.close()
    await denyList?.close()
    await opened.close()
    throw error
  }
}

/** A key must be there before anything else is opened: without it no quote, or no timeline, can be signed. */
function openSigner(
  variables: Readonly<Record<string, string | undefined>>,
  logger: Logger,
  prefix?: string,
): Promise<ConfiguredSigner> {
  return createConfiguredSigner({
    environment: variables,
    readFile: (path) => readFileSync(path, 'utf8'),
    warn: (message) => logger.warn(message),
    ...(prefix !== undefined && { prefix }),
    // Every quote is signed, and hardly any timeline.
    isThreaded: prefix === undefined,
  })
}
