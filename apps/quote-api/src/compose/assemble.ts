import { followNewHeads } from '@causeway/chains'
import { type HttpApp, type KeyedAnswer, traced } from '@causeway/http'
import { type Market, systemClock } from '@causeway/market'
import {
  type OpenService,
  openListeners,
  type ServiceParts,
  traceSigner,
  watchPushes,
} from '@causeway/service'
import { createWindowCleaner } from '../access/sharedLimits.ts'
import { createNewestHeads } from '../chainReadings/newestHeads.ts'
import { registerLinkRoutes } from '../http/admin/linkRoutes.ts'
import { buildApp } from '../http/app.ts'
import { loadConsolePage } from '../http/console/consoleFiles.ts'
import { openDocs } from '../http/docs/readDocs.ts'
import { createJobWrites } from '../jobs/jobWrites.ts'
import { watchMoney } from '../money/moneyMetrics.ts'
import { createDepositAddressLookup } from '../requests/depositAddresses/addressLookup.ts'
import { createOrderKey, type WatchedOrderKey } from '../requests/draft/orderKey.ts'
import { createSponsorRecords } from '../requests/history/sponsorRecords.ts'
import { followBoundRewards } from '../requests/orders/boundRewards.ts'
import { createOrderSignatures } from '../requests/orders/orderSignatures.ts'
import { createOrderStore } from '../requests/orders/orderStore.ts'
import { toStoredOrder } from '../requests/orders/storedOrder.ts'
import { createScreening } from '../requests/screening/screenedRequest.ts'
import { insertReportedTransaction } from '../requests/selfExecution/reportedTransactions.ts'
import { createRequestStatuses } from '../requests/status/requestStatus.ts'
import { createOracleHalts } from '../requests/stops/oracleHalts.ts'
import { createSignTimeline } from '../requests/timeline/signTimeline.ts'
import { withSolverKey } from '../requests/work/solverKey.ts'
import { createSolverWork } from '../requests/work/solverWork.ts'
import { announceStatus } from '../webhooks/announceStatus.ts'
import { readWebhookStandings } from '../webhooks/webhookStandings.ts'
import { createAccess, createKeylessBudgets, createSharedLimits } from './access.ts'
import { type Accounts, openAccounts } from './accounts.ts'
import { createAccuracy } from './accuracy.ts'
import { openAdministration } from './administration.ts'
import { createAppBalance } from './appBalance.ts'
import { claimPatienceMs, createAppFees } from './appFees.ts'
import { createMappings } from './authorize.ts'
import type { World } from './createQuoteApi.ts'
import { createDepositAddresses, storeWithAddresses } from './depositAddresses.ts'
import { createFindLiquidity } from './externalLiquidity.ts'
import { startMarket } from './market.ts'
import { startStatusFeed, startWorkOffers } from './notifications.ts'
import { createPermits } from './permits.ts'
import { quotableChecks } from './quotable.ts'
import { createChainPorts, createDepositPricing, createQuoting } from './quoting.ts'
import { createRetention } from './retention.ts'
import { createSettlement } from './settlement.ts'
import { clientsIn, openSight, type Sight } from './sight.ts'
import { retryAtStart } from './stops.ts'
import { createUsage } from './usage.ts'
import { createWebhooks } from './webhooks.ts'

export type ListenAddresses = {
  readonly publicUrl: string
  readonly opsUrl: string
  readonly adminUrl: string
}

export type QuoteApi = Pick<OpenService, 'logger' | 'readiness' | 'close'> & {
  /** The public listener. */
  readonly app: HttpApp
  readonly market: Market
  /** Opens all listeners, or none: when one cannot be opened, everything is closed. */
  listen(): Promise<ListenAddresses>
}

/** Builds all parts of the service, each after those that it needs. Keys, files, chains and database were checked before. */
export async function assemble(service: OpenService, world: World): Promise<QuoteApi> {
  const key = openOrderKey(service, world)
  const market = await startMarket(service, { ...world, clients: clientsIn('prices', world) })
  const jobWrites = watchWorld(service, world, { key, market })
  const sight = await openSight(service, world, market)
  const accounts = await openAccounts(service, world)
  const administration = await openAdministration(service, world, { market, sight, accounts })
  const base = baseOf(service, world, { key, market, sight, accounts })
  const pricing = openPricing(service, base)
  const settling = await openSettling(service, base, pricing)
  const callers = openCallers(service, base, pricing, settling)
  const quoting = openQuoting(service, base, { pricing, settling, callers })
  const jobs = openJobs(service, base, { settling, callers, quoting, jobWrites })
  const parts = { administration, pricing, settling, callers, quoting, jobs }
  const app = await openApp(service, base, parts)
  start(service, base, parts)
  const { logger, readiness, close } = service
  return { app, market, logger, readiness, close, listen: () => openPorts(service, world, app) }
}

/** Opens the key that signs orders; it logs when signing fails and when it works again. */
function openOrderKey(
  { logger, tracing, onClose }: ServiceParts<'connections'>,
  world: World,
): WatchedOrderKey {
  const key = createOrderKey(traceSigner(world.signer, tracing), (failure) => {
    if (failure === undefined) logger.info('the order signer signs')
    else logger.error({ err: failure }, 'the order signer cannot sign: nothing is quoted')
  })
  onClose('connections', 'order signer', () => key.close())
  key.start()
  return key
}

/** Watches job writes, order signing and the market, and exposes the money in the books as metrics. */
function watchWorld(
  { metrics, check }: ServiceParts<never>,
  world: World,
  { key, market }: { readonly key: WatchedOrderKey; readonly market: Market },
) {
  const { config, quote, registry, database } = world
  const jobWrites = createJobWrites({
    database,
    silentSeconds: config.jobsSilentSeconds,
    now: () => Date.now(),
  })
  check(jobWrites.check)
  check({ name: 'order signer', check: async () => key.assertWorks() })
  for (const readinessCheck of quotableChecks(market, world)) check(readinessCheck)
  const rewardsPerDayMicroUsd = quote.openRewards.perDayMicroUsd
  watchMoney({ metrics, database, chains: registry.chainById, rewardsPerDayMicroUsd })
  return jobWrites
}

type Base = ReturnType<typeof baseOf>

/** Dependencies that all parts below share. */
function baseOf(
  { logger, metrics }: ServiceParts<never>,
  world: World,
  parts: {
    readonly key: WatchedOrderKey
    readonly market: Market
    readonly sight: Sight
    readonly accounts: Accounts
  },
) {
  const { key, market, sight, accounts } = parts
  const { config, quote, chains, registry, clients, database, denyList } = world
  const { ledger } = accounts.sponsorship
  const { stops } = sight
  const snapshot = () => market.snapshot()
  return {
    world,
    sight,
    accounts,
    key,
    shared: {
      config,
      quote,
      chains,
      registry,
      clients,
      database,
      ledger,
      market,
      snapshot,
      metrics,
      logger,
      denyList,
      stops,
      screening: denyList && createScreening(denyList, registry),
      signatures: createOrderSignatures({ database, key }),
    },
    /** Clients for calls on behalf of one request. At endpoints that limit their rate they yield to calls for prices. */
    questions: { clients: clientsIn('questions', world) },
  }
}

type Pricing = ReturnType<typeof openPricing>

/** Opens pricing: its market data, and the questions about accounts that a price needs. */
function openPricing({ logger, onClose }: ServiceParts<'jobs'>, { shared, questions, accounts }: Base) {
  const { quote, registry, database, market, snapshot } = shared
  const heads = createNewestHeads(market, () => Date.now())
  const portOptions = {
    fillWallet: quote.fillWallet,
    registry,
    ...questions,
    heads,
    snapshot,
    clock: systemClock,
    onFactsFailure: (failedChainId: number, error: unknown) =>
      logger.debug({ chainId: failedChainId, err: error }, 'user facts not read'),
  }
  const ports = createChainPorts(portOptions)
  const { sponsorAsset } = accounts.sponsorship
  const pricing = createDepositPricing({ ...shared, ...questions }, { sponsorAsset, lackOf: ports.lackOf })
  const boundRewards = followBoundRewards({
    database,
    openRewards: pricing.openRewards,
    quoteLifetimeSeconds: quote.quoteLifetimeSeconds,
    now: () => Date.now(),
    onFailure: (error) => logger.warn({ err: error }, 'bound rewards not read: nobody earns a reward'),
  })
  onClose('jobs', 'bound rewards', () => boundRewards.close())
  // For calls that are not part of a quote, which can wait longer for a chain.
  const patientPorts = createChainPorts({ ...portOptions, budgetMs: claimPatienceMs })
  return { pricing, ports, patientPorts, heads, boundRewards }
}

type Settling = Awaited<ReturnType<typeof openSettling>>

/** Opens the parts that take a request from its deposit to its end. */
async function openSettling(
  { tracing, onClose }: ServiceParts<'connections'>,
  { world, shared, accounts }: Base,
  { pricing, patientPorts, heads }: Pricing,
) {
  const { config, quote, database } = shared
  const budgets = createKeylessBudgets({ database, config, limits: quote.keylessPerMinute })
  const mappings = createMappings({
    ...shared,
    oracles: config.oracles,
    hubSigner: world.hubSigner,
    hubBudget: budgets.hubEntries,
    ports: patientPorts,
  })
  onClose('connections', 'hub', () => mappings?.close())
  const { lateDeposits, fillWallet } = quote
  const settlement = createSettlement({
    standstillSeconds: config.standstillSeconds,
    depositsUnreadSeconds: config.depositsUnreadSeconds,
    ...shared,
    peppers: accounts.peppers,
    tracing,
    lateDeposits,
    pricing,
    heads,
    oracles: config.oracles,
    hubEntries: mappings?.hubEntries,
    fillWallet,
  })
  onClose('connections', 'hub of recoveries', () => settlement.close())
  await retryAtStart(settlement.expectSight)
  return { budgets, mappings, settlement }
}

type Callers = ReturnType<typeof openCallers>

/** Opens the parts that callers meet: keys, claims, permits, usage and webhooks. */
function openCallers(
  { onClose }: ServiceParts<'listeners' | 'jobs'>,
  { world, shared, questions, accounts }: Base,
  { patientPorts }: Pricing,
  { settlement }: Settling,
) {
  const { config, quote } = shared
  const { peppers, randomBytes, chain } = accounts
  const webhooks = createWebhooks({ ...shared, peppers })
  onClose('jobs', 'webhooks', () => webhooks.close())
  const callerOptions = { ...shared, chains: settlement.chains, publicUrl: config.publicUrl, randomBytes }
  const appFees = createAppFees({ ...callerOptions, ...questions, ports: patientPorts })
  const accuracy = createAccuracy(callerOptions)
  onClose('jobs', 'reaction times', () => accuracy.reactionTimes.close())
  const access = createAccess({ ...callerOptions, peppers, chain })
  registerLinkRoutes(world.adminListener, access.linking)
  const usage = createUsage(shared)
  // Closed with the listeners, whose answers it counts, before any job is waited for.
  onClose('listeners', 'usage of keys', () => usage.recorder.close())
  const permits = createPermits({
    ...shared,
    ...questions,
    fillWallet: quote.fillWallet,
    ports: patientPorts,
  })
  return { webhooks, appFees, accuracy, access, usage, permits }
}

type Quoting = ReturnType<typeof openQuoting>

/** Quotes, stored with what pays for them, and the addresses that deposits may go to. */
function openQuoting(
  { tracing, logger }: ServiceParts<never>,
  { shared, accounts, key }: Base,
  parts: { readonly pricing: Pricing; readonly settling: Settling; readonly callers: Callers },
) {
  const { config, quote, database } = shared
  const { sponsorship, randomBytes } = accounts
  const { pricing, ports } = parts.pricing
  const { access, accuracy, permits } = parts.callers
  const orders = createOrderStore({ database })
  const quoting = createQuoting({
    ...shared,
    pricing,
    ports,
    signer: key,
    provided: {
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
  const settlementChains = parts.settling.settlement.chains
  return { quoting, depositAddresses: createDepositAddresses({ ...shared, settlementChains, quoting }) }
}

type Jobs = ReturnType<typeof openJobs>

/** Balances of sponsors, and everything that runs in the one process that leads. */
function openJobs(
  { onClose }: ServiceParts<'jobs'>,
  { world, shared, sight, accounts }: Base,
  parts: {
    readonly settling: Settling
    readonly callers: Callers
    readonly quoting: Quoting
    readonly jobWrites: ReturnType<typeof createJobWrites>
  },
) {
  const { config, quote, registry, database } = shared
  const { webhooks, appFees, accuracy, usage } = parts.callers
  const retention = createRetention({ ...shared, settings: config.retention })
  const appBalance = createAppBalance({
    ...shared,
    chain: accounts.chain,
    fillWallet: quote.fillWallet,
    openSingle: world.openSingle,
    moreJobs: [
      ...parts.settling.settlement.jobs,
      ...[...parts.quoting.depositAddresses.jobs, ...appFees.jobs],
      createOracleHalts({
        database,
        oracles: config.oracles,
        sight: sight.oracleSight,
        chains: registry.chains,
      }),
      ...[webhooks.job, accuracy.job, usage.job, parts.jobWrites.job, ...retention],
      ...(config.rateLimits.isShared ? [createWindowCleaner(database)] : []),
    ],
  })
  onClose('jobs', 'jobs', () => appBalance.close())
  return appBalance
}

type Parts = {
  readonly administration: Awaited<ReturnType<typeof openAdministration>>
  readonly pricing: Pricing
  readonly settling: Settling
  readonly callers: Callers
  readonly quoting: Quoting
  readonly jobs: Jobs
}

/** Builds the public listener from the dependencies of all its routes. */
async function openApp(service: OpenService, base: Base, parts: Parts): Promise<HttpApp> {
  const { logger, metrics, tracing, readiness, onClose } = service
  const { world, shared, accounts } = base
  const { config, quote, market } = shared
  const app = await buildApp({
    ...accounts.sponsorship,
    ...callerRoutes(base, parts),
    ...parts.quoting.quoting,
    ...requestRoutes(service, base, parts),
    ...(await openPages(service, base, parts)),
    servers: quote.servers,
    environment: config.environment,
    trustedProxies: config.trustedProxies,
    securityContact: config.securityContact,
    marketHealth: () => market.health(),
    timelines: accounts.timelines,
    signTimeline: createSignTimeline({ signer: world.evidenceKey }),
    stops: shared.stops,
    logger,
    metrics,
    tracing,
    readiness,
  })
  onClose('listeners', 'public listener', () => app.close())
  return app
}

/** Dependencies of the callers' routes: access, rate limits and the callers' money. */
function callerRoutes({ shared }: Base, { settling, callers, jobs }: Parts) {
  const { config, quote } = shared
  const { access, usage, appFees } = callers
  const { perKeyMax, perIpMax, isShared } = config.rateLimits
  return {
    ...access,
    rateLimits: {
      perKeyMax: perKeyMax ?? quote.rateLimits.perKeyPerSecond,
      perIpMax: perIpMax ?? quote.rateLimits.perIpPerSecond,
    },
    signatureBudget: settling.budgets.signatures,
    sharedLimits: isShared ? createSharedLimits(shared) : undefined,
    apiKeys: withSolverKey(access.apiKeys, config.solverApiKey),
    onKeyedAnswer: (answer: KeyedAnswer) => usage.recorder.count(answer),
    readUsage: usage.readUsage,
    balances: jobs.balances,
    claims: jobs.claims,
    appFeeClaims: appFees.appFeeClaims,
  }
}

/** Dependencies of the routes about requests, for users and for solvers. */
function requestRoutes(service: ServiceParts<'listeners'>, base: Base, parts: Parts) {
  const { database, signatures } = base.shared
  const { settlement, mappings } = parts.settling
  const { depositAddresses } = parts.quoting
  const { permits } = parts.callers
  return {
    mapNonce: mappings?.mapNonce,
    takePermit: permits.takePermit,
    takeCalls: permits.takeCalls,
    report: (reported: Parameters<typeof insertReportedTransaction>[1]) =>
      insertReportedTransaction(database, reported),
    statuses: createRequestStatuses({ database }),
    statusFeed: startStatusFeed(service, base.world),
    addressLookup: createDepositAddressLookup(database),
    reindex: depositAddresses.reindex,
    hint(chainId: number) {
      settlement.hint(chainId)
      depositAddresses.hint(chainId)
    },
    readNamed: settlement.readNamed,
    signatures,
    workOffers: startWorkOffers(service, base.world),
    solverWork: openSolverWork(base, parts),
  }
}

/** Opens the work that solvers are offered and the reports that they send. */
function openSolverWork({ shared, sight }: Base, { pricing, settling, callers, quoting }: Parts) {
  const { database, registry } = shared
  const { settlement } = settling
  return createSolverWork({
    announce: announceStatus,
    noteSight: sight.solverSight.note,
    withholding: settlement.withholding,
    registry,
    payees: pricing.patientPorts,
    database,
    own: sight.own,
    onChange() {
      settlement.hint()
      quoting.depositAddresses.hint()
      callers.appFees.wake()
    },
  })
}

/** Opens the pages for people: the sponsor console and the documentation. */
async function openPages(
  { logger }: ServiceParts<never>,
  { shared: { config, database } }: Base,
  { administration, callers }: Parts,
) {
  return {
    sponsorConsole: {
      sessions: callers.access.sessions,
      policies: administration.policies,
      records: createSponsorRecords(database),
      webhooks: (wallet: Parameters<typeof readWebhookStandings>[1]) =>
        readWebhookStandings(database, wallet),
      files: await loadConsolePage('sponsor'),
    },
    docs: await openDocs(config.docsDirectory, (error) =>
      logger.warn({ err: error }, 'docs not read: /llms.txt and the pages under /docs are 404'),
    ),
  }
}

/** Starts what runs in the background: jobs, watchers of networks and new blocks, counters. */
function start(service: ServiceParts<'jobs'>, { shared, sight }: Base, parts: Parts): void {
  const { logger, metrics, onClose } = service
  const { chains, registry, market } = shared
  const { pricing, settling, callers, quoting, jobs } = parts
  sight.networks.start()
  jobs.startJobs()
  callers.accuracy.reactionTimes.start()
  pricing.boundRewards.start()
  callers.usage.recorder.start()
  const pushes = followNewHeads({
    registered: chains.chains,
    followed: registry.chains.map(({ key, chainId, config: { blockTimeMs } }) => ({
      key,
      chainId,
      blockTimeMs,
    })),
    onChange: watchPushes(metrics, logger),
    onHead({ key, chainId: headChainId }) {
      market.hint(key)
      settling.settlement.newBlock(headChainId)
      quoting.depositAddresses.hint(headChainId)
    },
  })
  onClose('jobs', 'new blocks', () => pushes.close())
}

/** Frees the ports on which the wait for the database answered, then opens the listeners there. */
async function openPorts(
  service: OpenService,
  { config, wait, adminListener }: World,
  app: HttpApp,
): Promise<ListenAddresses> {
  await wait.close()
  return openListeners(service, {
    publicUrl: { app, at: config.http, setting: 'HTTP_PORT' },
    opsUrl: { app: service.opsListener, at: config.ops, setting: 'OPS_PORT' },
    adminUrl: { app: adminListener, at: config.admin, setting: 'ADMIN_PORT' },
  })
}
