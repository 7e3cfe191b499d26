import { followNewHeads } from '@causeway/chains'
import type { HttpApp } from '@causeway/http'
import type { Market } from '@causeway/market'
import {
  type OpenService,
  openListeners,
  type ServiceParts,
  traceSigner,
  watchPushes,
} from '@causeway/service'
import { createJobWrites } from '../jobs/jobWrites.ts'
import { watchMoney } from '../money/moneyMetrics.ts'
import { createOrderKey, type WatchedOrderKey } from '../requests/draft/orderKey.ts'
import { DatabaseClock } from '../requests/stops/databaseClock.ts'
import { openAccounts } from './accounts.ts'
import { openAdministration } from './administration.ts'
import {
  type Base,
  baseOf,
  openCallers,
  openJobs,
  openPricing,
  openQuoting,
  openSettling,
  type Parts,
} from './assembledParts.ts'
import type { World } from './createQuoteApi.ts'
import { openMarket } from './market.ts'
import { openApp } from './publicListener.ts'
import { quotableChecks } from './quotable.ts'
import { clientsIn, openSight } from './sight.ts'
import { retryAtStart } from './stops.ts'

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

/**
 * Builds all parts of the service, and starts what runs in the background once they stand and the market was read: chains
 * answer while parts are built. `createQuoteApi` has opened and checked keys, files, chains and the database before.
 */
export async function assemble(service: OpenService, world: World): Promise<QuoteApi> {
  const key = openOrderKey(service, world)
  const clock = new DatabaseClock()
  const market = openMarket(service, { ...world, clients: clientsIn('prices', world), clock })
  const opening = [market.start(), openParts(service, world, { key, market, clock })] as const
  const [, { base, parts, app }] = await Promise.all(opening)
  // Done before anything is quoted, so that no chain is quoted whose deposits nobody reads.
  await retryAtStart(parts.settling.settlement.expectSight)
  start(service, base, parts)
  const { logger, readiness, close } = service
  return { app, market, logger, readiness, close, listen: () => openPorts(service, world, app) }
}

/** Builds each part after those that it needs; the public listener has all of them. */
async function openParts(
  service: OpenService,
  world: World,
  {
    key,
    market,
    clock,
  }: { readonly key: WatchedOrderKey; readonly market: Market; readonly clock: DatabaseClock },
) {
  const jobWrites = watchReadiness(service, world, { key, market })
  const sight = await openSight(service, world, { market, clock })
  const accounts = await openAccounts(service, world)
  const administration = await openAdministration(service, world, { market, sight, accounts })
  const base = baseOf(service, world, { key, market, sight, accounts })
  const pricing = openPricing(service, base)
  const settling = openSettling(service, base, pricing)
  const callers = openCallers(service, base, pricing, settling)
  const quoting = openQuoting(service, base, { pricing, settling, callers })
  const jobs = openJobs(service, base, { settling, callers, quoting, jobWrites })
  const parts = { administration, pricing, settling, callers, quoting, jobs }
  return { base, parts, app: await openApp(service, base, parts) }
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

/** Adds checks of job writes (returned for `openJobs`), order signing and market, and metrics of money. */
function watchReadiness(
  { metrics, check }: ServiceParts<never>,
  world: World,
  { key, market }: { readonly key: WatchedOrderKey; readonly market: Market },
) {
  const { config, quote, registry, database } = world
  const jobWrites = createJobWrites({
    database,
    silentSeconds: config.jobsSilentSeconds,
    now: () => performance.now(),
  })
  check(jobWrites.check)
  check({ name: 'order signer', check: async () => key.assertWorks() })
  for (const readinessCheck of quotableChecks(market, world)) check(readinessCheck)
  const rewardsPerDayMicroUsd = quote.openRewards.perDayMicroUsd
  watchMoney({ metrics, database, chains: registry.chainById, rewardsPerDayMicroUsd })
  return jobWrites
}

/** Called last: starts jobs, counters and watchers of networks. A new block wakes what reads its chain. */
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
