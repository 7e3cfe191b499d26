import { createOracleSight, type OracleSight, type Variables } from '@causeway/chains'
import type { Market } from '@causeway/market'
import {
  composeService,
  createEndpointMetrics,
  type OpenService,
  openListeners,
  registerNeighbours,
  type ServiceParts,
  watchMarket,
  watchOracleSigners,
} from '@causeway/service'
import { spentWithinHour } from '../wallet/budgets.ts'
import { readFigures } from '../wallet/exposure.ts'
import { createStopSwitch } from '../wallet/stopSwitch.ts'
import {
  type BackgroundParts,
  openRounds,
  openWork,
  type SolverParts,
  startBackground,
} from './background.ts'
import type { SolverConfig } from './config.ts'
import { openMarket } from './market.ts'
import { createSolverMetrics } from './metrics.ts'
import { createFilling, openDeposits, openPaying } from './openFilling.ts'
import { oraclesCheck } from './shownChecks.ts'
import { budgetsOf, holdingsOn } from './watchedState.ts'
import { openWorld, type World } from './world.ts'

export type Solver = Pick<OpenService, 'logger' | 'readiness' | 'close'> & {
  /** Lower-case address of the fill wallet. */
  readonly wallet: string
  /** Opens the ops listener and begins to work. @returns its URL */
  start(): Promise<string>
}

/**
 * Builds the whole solver: opens keys, files, chains and database (`openWorld`), makes the parts that judge
 * and pay work items, and with `start` begins their rounds (`startBackground`). Each part gets those made
 * before it. Only `background` is filled later: `startBackground` sets its members before the first round,
 * and `lastRoundMs` after each. The parts that hold it read a member at each use, and take an absent one for
 * no halt, no unattested payment and no long poll.
 * @param variables the environment with secrets merged in; chain files name variables of it
 * @throws ConfigurationError naming the setting that must not run
 */
export async function createSolver(config: SolverConfig, variables: Variables): Promise<Solver> {
  const { logLevel, tracing } = config
  return composeService({ name: 'solver', logLevel, tracing }, async (service) => {
    const world = await openWorld(service, config, variables)
    const metrics = createSolverMetrics(service.metrics)
    if (config.oracles === undefined)
      service.logger.warn(
        'no ORACLES: nothing that is paid is attested, and payments stop at unattestedMaxMicroUsd',
      )
    const market = openWatchedMarket(service, world)
    const paying = openPaying(service, { world, market, metrics })
    const deposits = openDeposits(service, world, market)
    const sight = watchOracles(service, config)
    const background: BackgroundParts = { lastRoundMs: performance.now() }
    const filling = createFilling(world, { ...paying, deposits, background })
    const work = await openWork(service, { world, filling, background })
    const parts = { world, metrics, paying, deposits, sight, background, filling, work }
    const round = openRounds(service, parts)
    watchState(market, parts)
    const { logger, readiness, close } = service
    const start = async () => {
      // Rounds begin last: they need the market's prices, and none may begin if the listener cannot open.
      await market.start()
      const { opsUrl } = await openListeners(service, {
        opsUrl: { app: service.opsListener, at: config.ops, setting: 'OPS_PORT' },
      })
      await startBackground(service, { ...parts, round })
      return opsUrl
    }
    return { wallet: world.signer.address, logger, readiness, close, start }
  })
}

/** Opens the market, which reads prices and gas from its start on. */
function openWatchedMarket(service: ServiceParts<'jobs'>, world: World): Market {
  const { logger, metrics, tracing, onClose } = service
  const market = openMarket({ ...world, logger }, metrics)
  onClose('jobs', 'market', () => market.close())
  const observerOf = createEndpointMetrics(metrics, tracing)
  for (const [key, client] of world.chains.clients) client.observe((endpoint) => observerOf(key, endpoint))
  watchMarket(metrics, () => market.health())
  return market
}

/** Watches whether enough oracles answer, and sign as the settings say. */
function watchOracles(service: ServiceParts<'jobs'>, { oracles }: SolverConfig): OracleSight | undefined {
  if (oracles === undefined) return undefined
  const sight = createOracleSight(oracles, () => performance.now())
  service.check(oraclesCheck(sight))
  registerNeighbours(service, watchOracleSigners(oracles, service.logger))
  return sight
}

/** Shows the solver's state as metrics. */
function watchState(
  market: Market,
  { world, metrics, paying: { chains: paying, records }, background }: Omit<SolverParts, 'round'>,
): void {
  const { files, chains, database } = world
  const stop = createStopSwitch(database)
  metrics.watch({
    isTold: () => background.watch?.isTold() === true,
    chains: paying.map(({ key, desk }) => ({ key, leads: desk.leads, waitingSinceMs: desk.waitingSinceMs })),
    budgets: budgetsOf(files, chains.paying),
    spent: (budget) => spentWithinHour(database, budget),
    openTransactions: async () => {
      const wallets = [...new Set(paying.map(({ desk }) => desk.address))]
      const counts = await Promise.all(wallets.map(records.openCount))
      return counts.reduce((sum, count) => sum + count, 0)
    },
    unattested: () => readFigures(database),
    exposed: paying.map(({ key, chainId, exposure }) => ({ key, chainId, limits: exposure })),
    inventory: () => chains.paying.flatMap((chain) => holdingsOn(chain, files, market)),
    isStopped: async () => (await stop.read()).isStopped,
  })
}
