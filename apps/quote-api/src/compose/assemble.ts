import {
  type ChainClient,
  type ChainGate,
  type ChainRegistry,
  createOracleSight,
  followNewHeads,
  type KeptDenyList,
  type Line,
  waitingIn,
} from '@causeway/chains'
import type { QuoteFile } from '@causeway/core'
import {
  createOpsListener,
  createReadiness,
  type HttpApp,
  type Readiness,
  registerPages,
  traced,
  watchPool,
} from '@causeway/http'
import { type Market, systemClock } from '@causeway/market'
import {
  type Closer,
  createServiceMetrics,
  denyListCheck,
  openTracing,
  tracedDatabase,
  tracedSigner,
  watchDenyList,
  watchOracleSigners,
  watchPushes,
} from '@causeway/service'
import type { ConfiguredSigner } from '@causeway/signer'
import type { Logger } from 'pino'
import { createWindowCleaner } from '../access/sharedLimits.ts'
import { createNewestHeads } from '../chainReadings/newestHeads.ts'
import type { QuoteApiConfig } from '../config/config.ts'
import { registerHealthRoutes, registerStopList } from '../http/admin/healthRoutes.ts'
import { registerLinkRoutes } from '../http/admin/linkRoutes.ts'
import { registerOverviewRoute } from '../http/admin/overviewRoutes.ts'
import { registerAdmin } from '../http/admin/registerAdmin.ts'
import { buildApp } from '../http/app.ts'
import { loadConsolePage } from '../http/console/consoleFiles.ts'
import { openDocs } from '../http/docs/readDocs.ts'
import { errorPolicy } from '../http/errorPolicy.ts'
import { createJobWrites } from '../jobs/jobWrites.ts'
import { watchMoney } from '../money/moneyMetrics.ts'
import { createStatusReading } from '../operate/admin/statusReading.ts'
import { createAdministration, loadPeppers } from '../operate/administration.ts'
import { openCommandChain } from '../operate/cli/commandChain.ts'
import type { OpenDatabase } from '../operate/database.ts'
import type { DatabaseWait } from '../operate/databaseWait.ts'
import { findCurrency, type QuoteRegistry } from '../pricing/registry.ts'
import { findSponsorshipChain } from '../pricing/sponsorship/sponsorCurrency.ts'
import { createDepositAddressLookup } from '../requests/depositAddresses/addressLookup.ts'
import { createOrderKey } from '../requests/draft/orderKey.ts'
import { createSponsorRecords } from '../requests/history/sponsorRecords.ts'
import { followBoundRewards } from '../requests/orders/boundRewards.ts'
import { createOrderSignatures } from '../requests/orders/orderSignatures.ts'
import { createOrderStore } from '../requests/orders/orderStore.ts'
import { toStoredOrder } from '../requests/orders/storedOrder.ts'
import { createScreening } from '../requests/screening/screenedRequest.ts'
import { insertReportedTransaction } from '../requests/selfExecution/reportedTransactions.ts'
import { readOracleAnswers } from '../requests/settlement/settlementMetrics.ts'
import { createRequestStatuses } from '../requests/status/requestStatus.ts'
import { createNetworkWatch, watchedChains } from '../requests/stops/networkWatch.ts'
import { createOracleHalts } from '../requests/stops/oracleHalts.ts'
import { ownTermsOf } from '../requests/stops/ownTerms.ts'
import { createTimelines } from '../requests/timeline/readTimeline.ts'
import { createSignTimeline } from '../requests/timeline/signTimeline.ts'
import { withSolverKey } from '../requests/work/solverKey.ts'
import { createSolverSight } from '../requests/work/solverSight.ts'
import { createSolverWork } from '../requests/work/solverWork.ts'
import { announceStatus } from '../webhooks/announceStatus.ts'
import { readWebhookStandings } from '../webhooks/webhookStandings.ts'
import { createAccess, createKeylessBudgets, createSharedLimits } from './access.ts'
import { createAccuracy } from './accuracy.ts'
import { createAppBalance } from './appBalance.ts'
import { claimPatienceMs, createAppFees } from './appFees.ts'
import { createMappings } from './authorize.ts'
import { createDepositAddresses, storeWithAddresses } from './depositAddresses.ts'
import { createFindLiquidity } from './externalLiquidity.ts'
import { createListening, type Listening } from './listeners.ts'
import { startMarket } from './market.ts'
import { startStatusFeed, startWorkOffers } from './notifications.ts'
import { createPermits } from './permits.ts'
import { quotableChecks } from './quotable.ts'
import { createChainPorts, createDepositPricing, createQuoting } from './quoting.ts'
import { createRandomPool } from './randomPool.ts'
import { createRetention } from './retention.ts'
import { createSettlement } from './settlement.ts'
import { createSponsorship } from './sponsorship.ts'
import { atStart, openStops } from './stops.ts'
import { createUsage } from './usage.ts'
import { createWebhooks } from './webhooks.ts'

export type QuoteApi = Listening & {
  /** The public listener. */
  readonly app: HttpApp
  readonly market: Market
  readonly logger: Logger
  readonly readiness: Readiness
  /** In the order in which they must be closed. */
  readonly closers: readonly Closer[]
}

/** What is known to be good before anything is built. */
export type Parts = OpenDatabase & {
  /** Holds the ports where the database had to be waited for. */
  readonly wait: DatabaseWait
  readonly config: QuoteApiConfig
  readonly variables: Readonly<Record<string, string | undefined>>
  readonly logger: Logger
  readonly signer: ConfiguredSigner
  /** Signs timelines; undefined where none are signed. */
  readonly evidenceKey: ConfiguredSigner | undefined
  /** Pays for entries on the hub; undefined where none is configured. */
  readonly hubSigner: ConfiguredSigner | undefined
  readonly quote: QuoteFile
  readonly chains: ChainRegistry
  readonly registry: QuoteRegistry
  readonly clients: ReadonlyMap<string, ChainClient>
  /** Gates of chains that did not answer yet. */
  readonly gates: ReadonlyMap<string, ChainGate>
  readonly adminListener: HttpApp
  /** Undefined where none is configured. */
  readonly denyList: KeptDenyList | undefined
}

/** Everything that is built once keys, files, chains and database are known to be good. */
export async function assemble(parts: Parts): Promise<QuoteApi> {
  const { config, logger, quote, chains, registry, clients, gates, adminListener, denyList } = parts
  const metrics = createServiceMetrics('quote-api')
  const told = { service: 'quote-api', registry: metrics.registry, log: logger }
  const tracing = await openTracing(config.tracing, told)
  const database = tracedDatabase(parts.database, tracing)
  const signer = createOrderKey(tracedSigner(parts.signer, tracing), (failure) => {
    if (failure === undefined) logger.info('the order signer signs')
    else logger.error({ err: failure }, 'the order signer cannot sign: nothing is quoted')
  })
  signer.start()
  const inLine = (line: Line) => ({
    clients: new Map([...clients].map(([key, client]) => [key, waitingIn(line, client)] as const)),
  })
  const questions = inLine('questions')
  const market = await startMarket({
    ...{ config, chains, quote, gates, metrics, tracing, logger },
    ...inLine('prices'),
  })
  const jobWrites = createJobWrites({
    database,
    silentSeconds: config.jobsSilentSeconds,
    now: () => Date.now(),
  })
  const readiness = createReadiness({
    checks: [
      { name: 'database', check: () => database.ping() },
      jobWrites.check,
      { name: 'order signer', check: async () => signer.assertWorks() },
      ...quotableChecks(market, parts),
      ...(denyList === undefined ? [] : [denyListCheck(denyList)]),
    ],
    onFailure: (name, error) => logger.warn({ check: name, err: error }, 'readiness check failed'),
  })
  if (denyList !== undefined) watchDenyList(metrics, denyList)
  watchPool(metrics, () => database.usage())
  const rewardsPerDayMicroUsd = quote.openRewards.perDayMicroUsd
  watchMoney({ metrics, database, chains: registry.chainById, rewardsPerDayMicroUsd })
  const solverSight = createSolverSight({ database, now: () => Date.now() })
  if (config.solverApiKey !== undefined) readiness.addCheck(solverSight.check)
  const oracleSight = config.oracles && createOracleSight(config.oracles, () => performance.now())
  if (oracleSight !== undefined)
    readiness.addCheck({
      name: 'oracles',
      isShownOnly: true,
      check: async () => oracleSight.assertEnough(),
    })
  const oracleSigners = config.oracles && watchOracleSigners(config.oracles, logger)
  if (oracleSigners !== undefined) readiness.addCheck(oracleSigners.check)
  const { address: orderSigner } = parts.signer
  const own = ownTermsOf({ quote, registry, orderSigner, isRead: (key) => clients.has(key) })
  const networks = createNetworkWatch({
    chains: watchedChains(registry, inLine('prices').clients, quote.fillWallet),
    market,
    now: () => Date.now(),
    onFailure: (chain, error) => logger.warn({ chain, err: error }, 'network not looked at'),
  })
  const stops = await openStops({ database, own, networks, registry, metrics, readiness, logger })
  const orders = createOrderStore({ database })
  const sponsorshipChain = findSponsorshipChain(registry, clients)
  const { chainId } = sponsorshipChain
  const sponsorship = createSponsorship({ database, quote, registry, chainId, logger })
  const peppers = await loadPeppers(config, database)
  const randomBytes = createRandomPool()
  const timelines = createTimelines({
    database,
    nameOf(named, currency) {
      const chain = registry.chainById.get(named)
      return chain && findCurrency(chain, currency)
    },
  })
  const marketHealth = () => market.health()
  const oracleAnswers = () => readOracleAnswers(metrics.registry)
  const ownStops = () => stops.list().filter(({ toldBy }) => toldBy === 'terms')
  const administration = { ...createAdministration({ config, database, peppers, ownStops }), timelines }
  registerAdmin(adminListener, administration, {
    database,
    chain: (signal) => openCommandChain({ config, variables: parts.variables, database, signal }),
    retention: config.retention,
    readStatus: createStatusReading({
      ...{ database, readiness, stops, marketHealth, registry, clients, oracles: config.oracles },
      oracleAnswers,
    }),
  })
  registerHealthRoutes(adminListener, { readiness, stops, networks, registry, marketHealth })
  registerPages(adminListener, '/console', await loadConsolePage('operator'))
  registerOverviewRoute(adminListener, {
    ...{ database, registry, oracles: config.oracles, snapshot: () => market.snapshot() },
    oracleAnswers,
  })
  const snapshot = () => market.snapshot()
  const { ledger } = sponsorship
  const shared = {
    ...{ config, quote, chains, registry, clients, database },
    ...{ ledger, market, snapshot, metrics, logger, denyList, stops },
    screening: denyList && createScreening(denyList, registry),
    signatures: createOrderSignatures({ database, key: signer }),
  }
  const heads = createNewestHeads(market, () => Date.now())
  const asked = {
    fillWallet: quote.fillWallet,
    ...{ registry, ...questions, heads, snapshot },
    clock: systemClock,
    onFactsFailure: (failed: number, error: unknown) =>
      logger.debug({ chainId: failed, err: error }, 'user facts not read'),
  }
  const ports = createChainPorts(asked)
  const { sponsorAsset } = sponsorship
  const pricing = createDepositPricing({ ...shared, ...questions }, { sponsorAsset, lackOf: ports.lackOf })
  const boundRewards = followBoundRewards({
    database,
    openRewards: pricing.openRewards,
    quoteLifetimeSeconds: quote.quoteLifetimeSeconds,
    now: () => Date.now(),
    onFailure: (error) => logger.warn({ err: error }, 'bound rewards not read: nobody earns a reward'),
  })
  const { lateDeposits } = quote
  const patientPorts = createChainPorts({ ...asked, budgetMs: claimPatienceMs })
  const budgets = createKeylessBudgets({ database, config, limits: quote.keylessPerMinute })
  const mappings = createMappings({
    ...{ ...shared, oracles: config.oracles, hubSigner: parts.hubSigner },
    ...{ hubBudget: budgets.hubEntries, ports: patientPorts },
  })
  const settlement = createSettlement({
    standstillSeconds: config.standstillSeconds,
    depositsUnreadSeconds: config.depositsUnreadSeconds,
    ...{ ...shared, peppers, tracing, lateDeposits, pricing, heads, oracles: config.oracles },
    ...{ hubEntries: mappings?.hubEntries, fillWallet: quote.fillWallet },
  })
  await atStart(settlement.expectSight)
  const webhooks = createWebhooks({ ...shared, peppers })
  const settling = { ...shared, chains: settlement.chains, publicUrl: config.publicUrl, randomBytes }
  const appFees = createAppFees({ ...settling, ...questions, ports: patientPorts })
  const accuracy = createAccuracy(settling)
  const access = createAccess({ ...settling, peppers, chain: sponsorshipChain })
  registerLinkRoutes(adminListener, access.linking)
  const usage = createUsage(shared)
  const retention = createRetention({ ...shared, settings: config.retention })
  const permits = createPermits({
    ...shared,
    ...questions,
    fillWallet: quote.fillWallet,
    ports: patientPorts,
  })
  const quoting = createQuoting({
    ...shared,
    pricing,
    ports,
    signer,
    brought: {
      reactionMsOf: accuracy.reactionTimes.of,
      findLiquidity: createFindLiquidity(config.externalLiquidity, quote, logger),
      permitTokens: permits.permitTokens,
      ...storeWithAddresses(shared, {
        store: (record) => traced(tracing, 'store quote', {}, () => orders.save(toStoredOrder(record))),
        storeSponsored: sponsorship.storeSponsored,
      }),
      sponsors: access.sponsors,
      onExploitableFeePayer: sponsorship.onExploitableFeePayer,
      randomBytes,
    },
  })
  const depositAddresses = createDepositAddresses({ ...shared, settlementChains: settlement.chains, quoting })
  const appBalance = createAppBalance({
    ...shared,
    chain: sponsorshipChain,
    fillWallet: quote.fillWallet,
    openSingle: parts.openSingle,
    moreJobs: [
      ...[...settlement.jobs, ...depositAddresses.jobs, ...appFees.jobs],
      createOracleHalts({
        ...{ database, oracles: config.oracles, sight: oracleSight, chains: registry.chains },
      }),
      ...[webhooks.job, accuracy.job, usage.job, jobWrites.job, ...retention],
      ...(config.rateLimits.isShared ? [createWindowCleaner(database)] : []),
    ],
  })
  const statusFeed = startStatusFeed({ database, listen: parts.listen, logger })
  const workOffers = startWorkOffers({ database, listen: parts.listen, logger })
  const lookAt = (chainId: number) => {
    settlement.hint(chainId)
    depositAddresses.hint(chainId)
  }
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
    signatureBudget: budgets.signatures,
    sharedLimits: config.rateLimits.isShared ? createSharedLimits(shared) : undefined,
    trustedProxies: config.trustedProxies,
    securityContact: config.securityContact,
    marketHealth,
    apiKeys: withSolverKey(access.apiKeys, config.solverApiKey),
    onKeyedAnswer: usage.recorder.count,
    readUsage: usage.readUsage,
    balances: appBalance.balances,
    sponsorConsole: {
      sessions: access.sessions,
      policies: administration.policies,
      records: createSponsorRecords(database),
      webhooks: (wallet) => readWebhookStandings(database, wallet),
      files: await loadConsolePage('sponsor'),
    },
    docs: await openDocs(config.docsDirectory, (error) =>
      logger.warn({ err: error }, 'docs not read: /llms.txt and the pages under /docs are 404'),
    ),
    claims: appBalance.claims,
    appFeeClaims: appFees.appFeeClaims,
    mapNonce: mappings?.mapNonce,
    takePermit: permits.takePermit,
    takeCalls: permits.takeCalls,
    report: (reported) => insertReportedTransaction(database, reported),
    statuses: createRequestStatuses({ database }),
    timelines,
    signTimeline: createSignTimeline({ signer: parts.evidenceKey }),
    statusFeed: statusFeed.feed,
    addressLookup: createDepositAddressLookup(database),
    reindex: depositAddresses.reindex,
    hint: lookAt,
    readNamed: settlement.readNamed,
    signatures: shared.signatures,
    workOffers: workOffers.offers,
    stops,
    solverWork: createSolverWork({
      announce: announceStatus,
      noteSight: solverSight.note,
      withholding: settlement.withholding,
      registry,
      payees: patientPorts,
      ...{ database, own },
      onChange() {
        settlement.hint()
        depositAddresses.hint()
        appFees.wake()
      },
    }),
    logger,
    metrics,
    tracing,
    readiness,
  })
  networks.start()
  appBalance.startJobs()
  accuracy.reactionTimes.start()
  boundRewards.start()
  usage.recorder.start()
  const pushes = followNewHeads({
    registered: chains.chains,
    followed: registry.chains.map(({ key, chainId, config: { blockTimeMs } }) => ({
      key,
      chainId,
      blockTimeMs,
    })),
    onChange: watchPushes(metrics, logger),
    onHead({ key, chainId: told }) {
      market.hint(key)
      settlement.newBlock(told)
      depositAddresses.hint(told)
    },
  })
  const ops = { logger, errors: errorPolicy, registry: metrics.registry, readiness }
  const opsListener = createOpsListener(ops)
  registerStopList(opsListener, { database, registry })

  const closers: readonly Closer[] = [
    { name: 'public listener', close: () => app.close() },
    { name: 'usage of keys', close: () => usage.recorder.close() },
    { name: 'status feed', close: () => statusFeed.close() },
    { name: 'work offers', close: () => workOffers.close() },
    { name: 'admin listener', close: () => adminListener.close() },
    { name: 'new blocks', close: async () => pushes.close() },
    { name: 'jobs', close: () => appBalance.close() },
    { name: 'stops', close: () => stops.close() },
    { name: 'oracle signers', close: async () => oracleSigners?.close() },
    { name: 'networks', close: async () => networks.close() },
    { name: 'reaction times', close: () => accuracy.reactionTimes.close() },
    { name: 'bound rewards', close: () => boundRewards.close() },
    { name: 'webhooks', close: () => webhooks.close() },
    { name: 'deny list', close: async () => denyList?.close() },
    { name: 'market', close: async () => market.close() },
    {
      name: 'chain clients',
      close: () => Promise.all([...clients.values()].map((client) => client.close())),
    },
    {
      name: 'signer',
      close() {
        signer.close()
        return parts.signer.close()
      },
    },
    { name: 'evidence key', close: async () => parts.evidenceKey?.close() },
    { name: 'hub key', close: async () => parts.hubSigner?.close() },
    { name: 'hub', close: () => Promise.all([mappings?.close(), settlement.close()]) },
    { name: 'database', close: parts.close },
    { name: 'traces', close: async () => tracing?.close() },
    { name: 'ops listener', close: () => opsListener.close() },
  ]
  const { wait } = parts
  const listening = createListening({ config, wait, app, opsListener, adminListener, closers })
  return { app, market, logger, readiness, closers, ...listening }
}
