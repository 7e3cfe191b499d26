import { traced } from '@causeway/http'
import { type Market, systemClock } from '@causeway/market'
import type { ServiceParts } from '@causeway/service'
import { createWindowCleaner } from '../access/sharedLimits.ts'
import { createNewestHeads } from '../chainReadings/newestHeads.ts'
import { registerLinkRoutes } from '../http/admin/linkRoutes.ts'
import type { createJobWrites } from '../jobs/jobWrites.ts'
import type { WatchedOrderKey } from '../requests/draft/orderKey.ts'
import { followBoundRewards } from '../requests/orders/boundRewards.ts'
import { createOrderSignatures } from '../requests/orders/orderSignatures.ts'
import { createOrderStore } from '../requests/orders/orderStore.ts'
import { toStoredOrder } from '../requests/orders/storedOrder.ts'
import { createScreening } from '../requests/screening/screenedRequest.ts'
import { createOracleHalts } from '../requests/stops/oracleHalts.ts'
import { createAccess, createKeylessBudgets } from './access.ts'
import type { Accounts } from './accounts.ts'
import { createAccuracy } from './accuracy.ts'
import type { openAdministration } from './administration.ts'
import { createAppBalance } from './appBalance.ts'
import { claimPatienceMs, createAppFees } from './appFees.ts'
import { createMappings } from './authorize.ts'
import { createChainPorts } from './chainPorts.ts'
import type { World } from './createQuoteApi.ts'
import { createDepositAddresses, storeWithAddresses } from './depositAddresses.ts'
import { createFindLiquidity } from './externalLiquidity.ts'
import { createPermits } from './permits.ts'
import { createDepositPricing, createQuoting } from './quoting.ts'
import { createRetention } from './retention.ts'
import { createSettlement } from './settlement.ts'
import { clientsIn, type Sight } from './sight.ts'
import { createUsage } from './usage.ts'
import { createWebhooks } from './webhooks.ts'

/**
 * Parts and dependencies that the parts below use; `assemble` opens these in the order of this file. Each of
 * them takes the members of `shared` that it needs, so most are given all members.
 */
export type Base = ReturnType<typeof baseOf>

export function baseOf(
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
    requestClients: clientsIn('questions', world),
  }
}

export type Pricing = ReturnType<typeof openPricing>

/** Opens pricing, and the questions about accounts that it asks chains. */
export function openPricing(
  { logger, onClose }: ServiceParts<'jobs'>,
  { shared, requestClients, accounts }: Base,
) {
  const { quote, registry, database, market, snapshot } = shared
  const heads = createNewestHeads(market, () => performance.now())
  const portOptions = {
    fillWallet: quote.fillWallet,
    registry,
    clients: requestClients,
    heads,
    snapshot,
    clock: systemClock,
    onFactsFailure: (failedChainId: number, error: unknown) =>
      logger.debug({ chainId: failedChainId, err: error }, 'user facts not read'),
  }
  const ports = createChainPorts(portOptions)
  const { sponsorAsset } = accounts.sponsorship
  const pricing = createDepositPricing(
    { ...shared, clients: requestClients },
    { sponsorAsset, lackOf: ports.lackOf },
  )
  const boundRewards = followBoundRewards({
    database,
    openRewards: pricing.openRewards,
    quoteLifetimeSeconds: quote.quoteLifetimeSeconds,
    now: () => Date.now(),
    onFailure: (error) => logger.warn({ err: error }, 'bound rewards not read: nobody earns a reward'),
  })
  onClose('jobs', 'bound rewards', () => boundRewards.close())
  // A call that is no part of a quote, such as a claim, can wait longer for a chain.
  const patientPorts = createChainPorts({ ...portOptions, budgetMs: claimPatienceMs })
  return { pricing, ports, patientPorts, heads, boundRewards }
}

export type Settling = ReturnType<typeof openSettling>

/** Opens the parts that take a request from its deposit to its end. */
export function openSettling(
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
  return { budgets, mappings, settlement }
}

export type Callers = ReturnType<typeof openCallers>

/** Opens the parts that callers meet: keys, claims, permits, usage and webhooks. */
export function openCallers(
  { onClose }: ServiceParts<'listeners' | 'jobs'>,
  { world, shared, requestClients, accounts }: Base,
  { patientPorts }: Pricing,
  { settlement }: Settling,
) {
  const { config, quote } = shared
  const { peppers, randomBytes, chain } = accounts
  const webhooks = createWebhooks({ ...shared, peppers })
  onClose('jobs', 'webhooks', () => webhooks.close())
  const callerOptions = { ...shared, chains: settlement.chains, publicUrl: config.publicUrl, randomBytes }
  const appFees = createAppFees({ ...callerOptions, clients: requestClients, ports: patientPorts })
  const accuracy = createAccuracy(callerOptions)
  onClose('jobs', 'reaction times', () => accuracy.reactionTimes.close())
  const access = createAccess({ ...callerOptions, peppers, chain })
  registerLinkRoutes(world.adminListener, access.linking)
  const usage = createUsage(shared)
  // Closed with the listeners, whose answers it counts, before any job is waited for.
  onClose('listeners', 'usage of keys', () => usage.recorder.close())
  const permits = createPermits({
    ...shared,
    clients: requestClients,
    fillWallet: quote.fillWallet,
    ports: patientPorts,
  })
  return { webhooks, appFees, accuracy, access, usage, permits }
}

export type Quoting = ReturnType<typeof openQuoting>

/** Opens quoting, which stores each quote with the hold that pays its fees, and the deposit addresses. */
export function openQuoting(
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

export type Jobs = ReturnType<typeof openJobs>

/** Opens the balances of sponsors, and all jobs, which run in the one process that leads them. Starts none yet. */
export function openJobs(
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
      ...parts.quoting.depositAddresses.jobs,
      ...appFees.jobs,
      createOracleHalts({
        database,
        oracles: config.oracles,
        sight: sight.oracleSight,
        chains: registry.chains,
      }),
      webhooks.job,
      accuracy.job,
      usage.job,
      parts.jobWrites.job,
      ...retention,
      ...(config.rateLimits.isShared ? [createWindowCleaner(database)] : []),
    ],
  })
  onClose('jobs', 'jobs', () => appBalance.close())
  return appBalance
}

export type Parts = {
  readonly administration: Awaited<ReturnType<typeof openAdministration>>
  readonly pricing: Pricing
  readonly settling: Settling
  readonly callers: Callers
  readonly quoting: Quoting
  readonly jobs: Jobs
}
