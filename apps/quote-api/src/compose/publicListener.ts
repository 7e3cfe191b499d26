import type { HttpApp, KeyedAnswer } from '@causeway/http'
import type { OpenService, ServiceParts } from '@causeway/service'
import { buildApp } from '../http/app.ts'
import { loadConsolePage } from '../http/console/consoleFiles.ts'
import { openDocs } from '../http/docs/readDocs.ts'
import { createDepositAddressLookup } from '../requests/depositAddresses/addressLookup.ts'
import { createSponsorRecords } from '../requests/history/sponsorRecords.ts'
import { insertReportedTransaction } from '../requests/selfExecution/reportedTransactions.ts'
import { createRequestStatuses } from '../requests/status/requestStatus.ts'
import { createSignTimeline } from '../requests/timeline/signTimeline.ts'
import { withSolverKey } from '../requests/work/solverKey.ts'
import { createSolverWork } from '../requests/work/solverWork.ts'
import { announceStatus } from '../webhooks/announceStatus.ts'
import { readWebhookStandings } from '../webhooks/webhookStandings.ts'
import { createSharedLimits } from './access.ts'
import type { Base, Parts } from './assembledParts.ts'
import { startStatusFeed, startWorkOffers } from './notifications.ts'

/**
 * Builds the public listener from the dependencies of all its routes. Of a name that several groups have, the
 * last one counts: unlike that of `sponsorship`, `storeSponsored` of quoting stores deposit addresses too.
 */
export async function openApp(service: OpenService, base: Base, parts: Parts): Promise<HttpApp> {
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
    // In place of `access.apiKeys`, which has no solver's key: that one is configured, not stored.
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
    // Patient: a report is no part of a quote, so it may wait longer for a chain's answer.
    payees: pricing.patientPorts,
    database,
    own: sight.own,
    // Called without a chain, also for claims, so every job that may have a payment to read is woken.
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
