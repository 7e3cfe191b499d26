import { createOracleSight, followNewHeads, type OracleSight } from '@causeway/chains'
import type { Hex, NetworkOf } from '@causeway/core'
import { exposureLimitsOf, isContractChain, paceMs, type QuoteChain } from '@causeway/core/config'
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
  watchPushes,
} from '@causeway/service'
import { recoverSigner } from '@causeway/signer'
import { createDepositReader, type DepositReader } from '../facts/deposits.ts'
import { createHeadSights } from '../facts/headSights.ts'
import { readUnits, valuerOf } from '../facts/prices.ts'
import type { Filling, Recoveries, SolverChain } from '../filling/filling.ts'
import { createRound } from '../filling/solverRound.ts'
import { spentWithinHour } from '../wallet/budgets.ts'
import { readFigures } from '../wallet/exposure.ts'
import { createRecords, type Records } from '../wallet/records.ts'
import { createStopSwitch } from '../wallet/stopSwitch.ts'
import { termsQuery } from '../work/ownTerms.ts'
import { createWorkClient, type WorkSource } from '../work/workClient.ts'
import { type WorkWatch, watchWork } from '../work/workWatch.ts'
import { type Attesting, startAttesting } from './attesting.ts'
import type { SolverConfig } from './config.ts'
import { elect } from './elections.ts'
import { type HaltedChains, watchHalts } from './haltedChains.ts'
import { createRoundSignals, type RoundSignals, startLoop } from './loop.ts'
import { openMarket } from './market.ts'
import { createSolverMetrics, type SolverMetrics } from './metrics.ts'
import { observedRecords } from './observedRecords.ts'
import { openDesk } from './openDesk.ts'
import { sharingOf } from './sharing.ts'
import { oraclesCheck, submitCheck } from './shownChecks.ts'
import { budgetsOf, holdingsOn } from './watchedState.ts'
import { logDifferences, logHandled } from './workLog.ts'
import { openWorld, readSolverName, type World } from './world.ts'

export type Solver = Pick<OpenService, 'logger' | 'readiness' | 'close'> & {
  /** Lower-case address of the fill wallet. */
  readonly wallet: string
  /** Opens the ops listener and begins to work. @returns its URL */
  start(): Promise<string>
}

type Variables = Readonly<Record<string, string | undefined>>

/** If no round has ended for so long, readiness fails. */
const roundMaxAgeMs = 60_000

/**
 * Builds the whole solver: opens the key, reads files, compares chains with them, opens the database.
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
    const market = readMarket(service, world)
    const paying = openPaying(service, { world, market, metrics })
    const deposits = openDeposits(service, world, market)
    const oracleSight = watchOracles(service, config)
    const following: Following = { lastRoundMs: Date.now() }
    const filling = fillingOf(world, { ...paying, deposits, following })
    const work = await openWork(service, { world, filling, following })
    const round = openRounds(service, { world, metrics, filling, work, following })
    watchState(metrics, { world, market, paying, following })
    const { logger, readiness, close } = service
    const parts = { world, paying, deposits, sight: oracleSight, work, round, following }
    const start = async () => {
      await market.start()
      const { opsUrl } = await openListeners(service, {
        opsUrl: { app: service.opsListener, at: config.ops, setting: 'OPS_PORT' },
      })
      await startFollowing(service, parts)
      return opsUrl
    }
    return { wallet: world.signer.address, logger, readiness, close, start }
  })
}

/** Parts that `startFollowing` opens. Parts made before read them when they need them; until then they are absent. */
type Following = { halts?: HaltedChains; attesting?: Attesting; watch?: WorkWatch; lastRoundMs: number }

/** What pays: chains with their desks, and the records. */
type Paying = {
  readonly chains: readonly SolverChain[]
  readonly records: Records
  readonly networkOf: NetworkOf
  readonly valuer: Filling['valuer']
}

/** Prices and gas, not read yet. */
function readMarket(service: ServiceParts<'jobs'>, world: World): Market {
  const { logger, metrics, tracing, onClose } = service
  const market = openMarket({ ...world, logger }, metrics)
  onClose('jobs', 'market', () => market.close())
  const observerOf = createEndpointMetrics(metrics, tracing)
  for (const [key, client] of world.chains.clients) client.observe((endpoint) => observerOf(key, endpoint))
  watchMarket(metrics, () => market.health())
  return market
}

/** The chains that are paid on, each with what signs there. */
function openPaying(
  { logger, check, onClose }: ServiceParts<'jobs'>,
  parts: { readonly world: World; readonly market: Market; readonly metrics: SolverMetrics },
): Paying {
  const { world, market, metrics } = parts
  const { files, database, chains } = world
  const elections = elect({ ...world, logger })
  onClose('jobs', 'lease', () => elections.close())
  const networkOf: NetworkOf = (key) => files.chains.chains.get(key)
  const units = readUnits(files.quote, networkOf)
  const valuer = () => valuerOf(units, market.snapshot())
  const records = observedRecords(createRecords(database), { chains: chains.paying, valuer, metrics })
  const opened = chains.paying.map((chain) =>
    openDesk(logger, {
      chain,
      records,
      market,
      elections,
      exposure: exposureLimitsOf(files.solver, chain.policy),
    }),
  )
  for (const submitReadiness of opened.flatMap(submitCheck)) check(submitReadiness)
  return { chains: opened, records, networkOf, valuer }
}

/** Opens the reader of deposits on all quoted chains. The market's heads tell it when blocks were first seen. */
function openDeposits(
  { onClose }: ServiceParts<'connections'>,
  { files: { quote, chains }, hub }: World,
  market: Market,
): DepositReader {
  const heads = createHeadSights(() => performance.now())
  const origins = Object.values(quote.chains).map(({ chainId }) => chainId)
  market.onChange((snapshot) => {
    for (const chainId of origins) {
      const state = snapshot.chain(chainId)
      if (!('reason' in state)) heads.note(chainId, state.head.number)
    }
  })
  const deposits = createDepositReader(
    Object.entries(quote.chains).flatMap(([key, origin]) => {
      const chain = chains.chains.get(key)
      return chain === undefined ? [] : [{ chain, config: origin }]
    }),
    heads,
    hub?.entries,
  )
  onClose('connections', 'deposits', () => deposits.close())
  return deposits
}

/** Watches whether enough oracles answer, and sign as the settings say. */
function watchOracles(service: ServiceParts<'jobs'>, { oracles }: SolverConfig): OracleSight | undefined {
  if (oracles === undefined) return undefined
  const sight = createOracleSight(oracles, () => performance.now())
  service.check(oraclesCheck(sight))
  registerNeighbours(service, watchOracleSigners(oracles, service.logger))
  return sight
}

/** Everything that looking at work needs. */
function fillingOf(
  world: World,
  parts: Paying & { readonly deposits: DepositReader; readonly following: Following },
): Filling {
  const { config, settings, files, signer, denyList } = world
  const { toleranceBps, lossPerOrderMicroUsd, lossPerHourMicroUsd, claimsPerHourMicroUsd } = files.solver
  const { chains, records, deposits, networkOf, valuer, following } = parts
  return {
    chains,
    records,
    deposits,
    networkOf,
    denyList,
    isDryRun: config.isDryRun,
    orders: { networkOf, recoverSigner, orderSigners: settings.orderSigners },
    sharing: sharingOf(files.solver, signer.address),
    hasOracles: config.oracles !== undefined,
    isHalted: (key) => following.halts?.has(key) === true,
    recoveries: recoveriesOf(world),
    valuer,
    limits: { toleranceBps, lossPerOrderMicroUsd, lossPerHourMicroUsd, claimsPerHourMicroUsd },
  }
}

/**
 * Opens the source of work. Its queries tell quote-api the solver's terms, and the chains on which nothing is to be
 * sold.
 */
async function openWork(
  { logger, tracing }: ServiceParts<never>,
  parts: { readonly world: World; readonly filling: Filling; readonly following: Following },
): Promise<WorkSource> {
  const { config, settings, files, database } = parts.world
  const { filling, following } = parts
  const name = await readSolverName(database)
  const terms = termsQuery({
    orderSigners: settings.orderSigners,
    chains: (await Promise.all(filling.chains.map(contractsOf))).flatMap(
      ([{ key, chainId, desk }, contracts]) =>
        contracts.map((fillContract, index) => ({
          chainId,
          wallet: desk.address,
          fillContract,
          floors: (index === 0 && files.solver.chains[key]?.floors) || [],
        })),
    ),
    sharedWallets: files.solver.sharing?.fillWallets ?? [],
    lossPerOrderMicroUsd: files.solver.lossPerOrderMicroUsd,
  })
  return createWorkClient(settings.quoteApiUrl, settings.solverApiKey, {
    tracing,
    // A dry run does not tell its terms: quote-api would stop what they contradict.
    terms: config.isDryRun ? {} : { solver: name, ...terms },
    onDifferences: logDifferences(logger),
    unattested: () => following.attesting?.exposure() ?? [],
    stopped: () => [
      ...(following.attesting?.full() ?? []),
      ...filling.chains.flatMap(({ key, chainId }) => (filling.isHalted(key) ? [chainId] : [])),
    ],
  })
}

type Rounds = ReturnType<typeof createRound>

/** Makes the function that runs a round, and the readiness check that one has ended lately. */
function openRounds(
  { logger, tracing, check }: ServiceParts<never>,
  parts: {
    readonly world: World
    readonly metrics: SolverMetrics
    readonly filling: Filling
    readonly work: WorkSource
    readonly following: Following
  },
): Rounds {
  const { world, metrics, filling, work, following } = parts
  const stop = createStopSwitch(world.database)
  check({
    name: 'work',
    async check() {
      const isLate = Date.now() - following.lastRoundMs > roundMaxAgeMs
      if (isLate) throw new Error('no round has ended for a minute')
    },
  })
  return createRound({
    filling,
    work: { ...work, open: () => following.watch?.open() ?? work.open() },
    isStopped: async () => (await stop.read()).isStopped,
    observe: {
      began: metrics.countRound,
      handled(item, handled) {
        metrics.countHandled(item, handled)
        logHandled(logger, item, { handled, traceId: tracing?.traceId() })
      },
      failed(subject, error) {
        metrics.countFailure()
        logger.warn({ event: 'look_failed', what: subject, err: error }, `${subject} is tried again`)
      },
    },
    tracing,
    nowMs: () => performance.now(),
  })
}

/** Shows the solver's state as metrics. */
function watchState(
  metrics: SolverMetrics,
  parts: {
    readonly world: World
    readonly market: Market
    readonly paying: Paying
    readonly following: Following
  },
): void {
  const { files, chains, database } = parts.world
  const { market, following } = parts
  const { chains: paying, records } = parts.paying
  const stop = createStopSwitch(database)
  metrics.watch({
    isTold: () => following.watch?.isTold() === true,
    chains: paying.map(({ key, desk }) => ({
      key,
      leads: desk.leads,
      waitingSinceMs: desk.waitingSinceMs,
    })),
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

type Started = {
  readonly world: World
  readonly paying: Paying
  readonly deposits: DepositReader
  readonly sight: OracleSight | undefined
  readonly work: WorkSource
  readonly round: Rounds
  readonly following: Following
}

/** Starts what works in the background: halts, attestations, the long poll for work, new blocks, and then the rounds. */
async function startFollowing(service: ServiceParts<'jobs'>, parts: Started): Promise<void> {
  const { logger, onClose } = service
  const { world, paying, deposits, sight, work, round, following } = parts
  const { config, files, database } = world
  const { oracles, pollIntervalMs } = config
  const namedChains = Object.entries(files.quote.chains).map(([key, { chainId }]) => ({ key, chainId }))
  const halts = await watchHalts({ database, oracles, sight, chains: namedChains, logger })
  onClose('jobs', 'halts', () => halts.close())
  const { chains, networkOf } = paying
  const attesting = startAttesting({ database, oracles, networkOf, chains, deposits, logger })
  onClose('jobs', 'attestations', () => attesting.close())
  const signals = createRoundSignals()
  const watch = watchWork({ work, onTold: signals.work, nowMs: () => performance.now() })
  onClose('jobs', 'told work', () => watch.close())
  Object.assign(following, { halts, attesting, watch })
  followBlocks(service, world, signals)
  const loop = startLoop({
    everyMs: pollIntervalMs,
    waker: signals,
    async run(roundSignal) {
      await round(roundSignal)
      following.lastRoundMs = Date.now()
    },
    onFailure: (error) => logger.warn({ event: 'round_failed', err: error }, 'a round failed'),
  })
  onClose('jobs', 'rounds', () => loop.stop())
}

/** Has new blocks of quoted chains begin rounds. */
function followBlocks(
  { logger, metrics, onClose }: ServiceParts<'jobs'>,
  { config, files }: World,
  signals: Pick<RoundSignals, 'block'>,
): void {
  const pushes = followNewHeads({
    registered: files.chains.chains,
    followed: Object.entries(files.quote.chains)
      .map(([key, quoted]) => ({ key, ...quoted }))
      .filter((chain) => !isSeenByClock(chain, config.pollIntervalMs)),
    onHead: ({ chainId }) => signals.block(chainId),
    onChange: watchPushes(metrics, logger),
  })
  onClose('jobs', 'new blocks', () => pushes.close())
}

/** Fill contracts that orders of a chain may name, its own first; only that one if the code of others cannot be read. */
async function contractsOf(
  chain: SolverChain,
): Promise<readonly [SolverChain, readonly (Hex | undefined)[]]> {
  const contracts = await chain.fillContracts?.().catch(() => undefined)
  return [chain, contracts ?? [chain.fillContract]]
}

/** True for a chain whose new blocks need no signal, because rounds by the clock see them soon enough. @source F-118 */
const isSeenByClock = (chain: Pick<QuoteChain, 'blockTimeMs'>, everyMs: number): boolean =>
  chain.blockTimeMs < everyMs && everyMs <= paceMs(chain) / 4

/** What writes recoveries to the hub; undefined where the settings do not allow it. */
function recoveriesOf({ hub, files: { chains, quote } }: World): Recoveries | undefined {
  if (hub?.recoveries === undefined) return undefined
  return {
    hub: hub.recoveries,
    chainNumberOf(key) {
      if (key === chains.hub?.id) return chains.hub.evmChainId
      const config = quote.chains[key]
      return config !== undefined && isContractChain(config) ? config.chainId : undefined
    },
  }
}
