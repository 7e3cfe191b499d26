import {
  createOracleSight,
  followNewHeads,
  type KeptDenyList,
  openDenyList,
  warnOfUncheckedCode,
} from '@causeway/chains'
import {
  ConfigurationError,
  exposureLimitsOf,
  type Hex,
  isContractChain,
  type NetworkOf,
  paceMs,
  type QuoteChain,
  type SqlDatabase,
} from '@causeway/core'
import {
  createOpsListener,
  createReadiness,
  openListener,
  type Readiness,
  standardErrorPolicy,
  watchPool,
} from '@causeway/http'
import {
  type Closer,
  createEndpointMetrics,
  createLogger,
  createServiceMetrics,
  denyListCheck,
  logDenyList,
  openTracing,
  tracedDatabase,
  tracedSigner,
  watchDenyList,
  watchMarket,
  watchOracleSigners,
  watchPushes,
} from '@causeway/service'
import { type ConfiguredSigner, checkHubKey, recoverSigner } from '@causeway/signer'
import type { Logger } from 'pino'
import { createDepositReader } from '../facts/deposits.ts'
import { createHeadSights } from '../facts/headSights.ts'
import { readUnits, valuerOf } from '../facts/prices.ts'
import type { Filling, Recoveries, SolverChain } from '../filling/filling.ts'
import { createRound } from '../filling/solverRound.ts'
import type { Sharing } from '../judge/turns.ts'
import { spentWithinHour } from '../wallet/budgets.ts'
import { readFigures } from '../wallet/exposure.ts'
import { createRecords } from '../wallet/records.ts'
import { createStopSwitch } from '../wallet/stopSwitch.ts'
import { termsQuery } from '../work/ownTerms.ts'
import { createWorkClient } from '../work/workClient.ts'
import { type WorkWatch, watchWork } from '../work/workWatch.ts'
import { type Attesting, startAttesting } from './attesting.ts'
import { type OpenChains, openChains } from './chains.ts'
import { type SolverConfig, workSettings } from './config.ts'
import { type OpenDatabase, openDatabase } from './database.ts'
import { elect } from './elections.ts'
import { type LoadedFiles, loadFiles } from './files.ts'
import { type HaltedChains, watchHalts } from './haltedChains.ts'
import { type Hub, openHub } from './hub.ts'
import { openHubKey, openWallet, readFillKeys } from './keys.ts'
import { createWaker, startLoop } from './loop.ts'
import { openMarket } from './market.ts'
import { createSolverMetrics } from './metrics.ts'
import { observedRecords } from './observedRecords.ts'
import { addressOn, openDesk } from './openDesk.ts'
import { oraclesCheck, submitCheck } from './shownChecks.ts'
import { budgetsOf, holdingsOn } from './watchedState.ts'
import { logDifferences, logHandled } from './workLog.ts'

export type Solver = {
  /** Lower-case address of the fill wallet. */
  readonly wallet: string
  readonly logger: Logger
  readonly readiness: Readiness
  /** Opens the ops listener and begins to work. @returns its URL */
  start(): Promise<string>
  /** In the order in which they must be closed. */
  readonly closers: readonly Closer[]
}

type Variables = Readonly<Record<string, string | undefined>>

/** A solver that works looks at its work at least so often. */
const roundMaxAgeMs = 60_000

/**
 * Builds the whole solver: opens the key, reads files, compares chains with them, opens the database.
 * @param variables the environment with secrets merged in; chain files name variables of it
 * @throws ConfigurationError naming the setting that must not run
 */
export async function createSolver(config: SolverConfig, variables: Variables): Promise<Solver> {
  const logger = createLogger({ service: 'solver', level: config.logLevel })
  const settings = workSettings(config)
  const signer = await openWallet(variables, logger)
  const files = await loadFiles(config, variables, signer.address)
  warnOfUncheckedCode(files.chains.chains.values(), logger)
  const denyList = await openDenyList(config.denyList, {
    now: () => performance.now(),
    observe: logDenyList(logger),
  })
  const hubKey = await openHubKey(variables, logger)
  const hub = openHub(files, { oracles: config.oracles, signer: hubKey })
  const chains = await openChains(files, readFillKeys(variables), hub, logger)
  checkHubKey(hubKey?.address, [signer.address, ...chains.paying.map((chain) => addressOn(chain, signer))])
  const opened = await openDatabase(config, {
    onConnectionLost: (error) => logger.warn({ err: error }, 'database connection lost'),
  }).catch(async (error: unknown) => {
    await chains.close()
    await hub?.close()
    await denyList?.close()
    throw error
  })
  return assemble({ config, settings, logger, signer, hubKey, hub, files, chains, opened, denyList })
}

type Parts = {
  readonly config: SolverConfig
  readonly settings: ReturnType<typeof workSettings>
  readonly logger: Logger
  readonly signer: ConfiguredSigner
  readonly hubKey: ConfiguredSigner | undefined
  readonly hub: Hub | undefined
  readonly files: LoadedFiles
  readonly chains: OpenChains
  readonly opened: OpenDatabase
  readonly denyList: KeptDenyList | undefined
}

async function assemble(untraced: Parts): Promise<Solver> {
  const httpMetrics = createServiceMetrics('solver')
  const told = { service: 'solver', registry: httpMetrics.registry, log: untraced.logger }
  const tracing = await openTracing(untraced.config.tracing, told)
  const database = tracedDatabase(untraced.opened.database, tracing)
  const signer = tracedSigner(untraced.signer, tracing)
  const parts = { ...untraced, signer }
  const { config, settings, logger, files, chains, opened, denyList } = parts
  const metrics = createSolverMetrics(httpMetrics)
  if (config.oracles === undefined)
    logger.warn('no ORACLES: nothing that is paid is attested, and payments stop at unattestedMaxMicroUsd')
  if (denyList !== undefined) watchDenyList(httpMetrics, denyList)
  const stop = createStopSwitch(database)
  const market = openMarket(parts, httpMetrics)
  const observerOf = createEndpointMetrics(httpMetrics, tracing)
  for (const [key, client] of chains.clients) client.observe((endpoint) => observerOf(key, endpoint))
  watchMarket(httpMetrics, () => market.health())
  watchPool(httpMetrics, () => database.usage())
  const elections = elect(parts)
  const networkOf: NetworkOf = (key) => files.chains.chains.get(key)
  const units = readUnits(files.quote, networkOf)
  const valuer = () => valuerOf(units, market.snapshot())
  const records = observedRecords(createRecords(database), { chains: chains.paying, valuer, metrics })
  const paying = chains.paying.map((chain) =>
    openDesk(parts, {
      ...{ chain, records, market, elections },
      exposure: exposureLimitsOf(files.solver, chain.policy),
    }),
  )
  const heads = createHeadSights(() => performance.now())
  const origins = Object.values(files.quote.chains).map(({ chainId }) => chainId)
  market.onChange((snapshot) => {
    for (const chainId of origins) {
      const state = snapshot.chain(chainId)
      if (!('reason' in state)) heads.note(chainId, state.head.number)
    }
  })
  const deposits = createDepositReader(
    Object.entries(files.quote.chains).flatMap(([key, origin]) => {
      const chain = files.chains.chains.get(key)
      return chain === undefined ? [] : [{ chain, config: origin }]
    }),
    heads,
    parts.hub?.entries,
  )
  const { toleranceBps, lossPerOrderMicroUsd, lossPerHourMicroUsd, claimsPerHourMicroUsd } = files.solver
  let halts: HaltedChains | undefined
  const sight = config.oracles && createOracleSight(config.oracles, () => performance.now())
  const signers = config.oracles && watchOracleSigners(config.oracles, logger)
  const filling: Filling = {
    ...{ chains: paying, records, deposits, networkOf, denyList, isDryRun: config.isDryRun },
    orders: { networkOf, recoverSigner, orderSigners: settings.orderSigners },
    sharing: sharingOf(files.solver, signer.address),
    hasOracles: config.oracles !== undefined,
    isHalted: (key) => halts?.has(key) === true,
    recoveries: recoveriesOf(parts),
    valuer,
    limits: { toleranceBps, lossPerOrderMicroUsd, lossPerHourMicroUsd, claimsPerHourMicroUsd },
  }
  let lastRoundMs = Date.now()
  const waker = createWaker()
  let attesting: Attesting | undefined
  const name = await readSolverName(database)
  const terms = termsQuery({
    orderSigners: settings.orderSigners,
    chains: (await Promise.all(paying.map(contractsOf))).flatMap(([{ key, chainId, desk }, contracts]) =>
      contracts.map((fillContract, index) => ({
        ...{ chainId, wallet: desk.address, fillContract },
        floors: (index === 0 && files.solver.chains[key]?.floors) || [],
      })),
    ),
    sharedWallets: files.solver.sharing?.fillWallets ?? [],
    lossPerOrderMicroUsd,
  })
  const work = createWorkClient(settings.quoteApiUrl, settings.solverApiKey, {
    tracing,
    // A dry run refuses nothing.
    terms: config.isDryRun ? {} : { solver: name, ...terms },
    onDifferences: logDifferences(logger),
    unattested: () => attesting?.exposure() ?? [],
    stopped: () => [
      ...(attesting?.full() ?? []),
      ...paying.flatMap(({ key, chainId }) => (filling.isHalted(key) ? [chainId] : [])),
    ],
  })
  const nowMs = () => performance.now()
  let watch: WorkWatch | undefined
  const round = createRound({
    filling,
    work: { ...work, open: () => watch?.open() ?? work.open() },
    isStopped: async () => (await stop.read()).isStopped,
    observe: {
      began: metrics.countRound,
      handled(item, handled) {
        metrics.countHandled(item, handled)
        logHandled(logger, item, { handled, traceId: tracing?.traceId() })
      },
      failed(what, error) {
        metrics.countFailure()
        logger.warn({ event: 'look_failed', what, err: error }, `${what} is tried again`)
      },
    },
    tracing,
    nowMs,
  })
  metrics.watch({
    isTold: () => watch?.isTold() === true,
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
  const readiness = createReadiness({
    checks: [
      { name: 'database', check: () => database.ping() },
      ...(denyList === undefined ? [] : [denyListCheck(denyList)]),
      ...paying.flatMap(submitCheck),
      ...(sight === undefined ? [] : [oraclesCheck(sight)]),
      ...(signers === undefined ? [] : [signers.check]),
      {
        name: 'work',
        async check() {
          if (Date.now() - lastRoundMs > roundMaxAgeMs) throw new Error('no round has ended for a minute')
        },
      },
    ],
    onFailure: (name, error) => logger.warn({ check: name, err: error }, 'readiness check failed'),
  })
  const { registry } = httpMetrics
  const opsListener = createOpsListener({ logger, errors: standardErrorPolicy, registry, readiness })
  let loop: ReturnType<typeof startLoop> | undefined
  let pushes: ReturnType<typeof followNewHeads> | undefined
  return {
    wallet: signer.address,
    logger,
    readiness,
    async start() {
      await market.start()
      const url = await openListener(opsListener, config.ops, 'OPS_PORT')
      const { oracles } = config
      const named = Object.entries(files.quote.chains).map(([key, { chainId }]) => ({ key, chainId }))
      halts = await watchHalts({ database, oracles, sight, chains: named, logger })
      attesting = startAttesting({ database, oracles, networkOf, chains: paying, deposits, logger })
      watch = watchWork({ work, onTold: waker.work, nowMs })
      pushes = followNewHeads({
        registered: files.chains.chains,
        followed: Object.entries(files.quote.chains)
          .map(([key, quoted]) => ({ key, ...quoted }))
          .filter((chain) => !isSeenByClock(chain, config.pollIntervalMs)),
        onHead: ({ chainId }) => waker.block(chainId),
        onChange: watchPushes(httpMetrics, logger),
      })
      loop = startLoop({
        everyMs: config.pollIntervalMs,
        waker,
        async run(told) {
          await round(told)
          lastRoundMs = Date.now()
        },
        onFailure: (error) => logger.warn({ event: 'round_failed', err: error }, 'a round failed'),
      })
      return url
    },
    closers: [
      { name: 'new blocks', close: async () => pushes?.close() },
      { name: 'told work', close: async () => watch?.close() },
      { name: 'rounds', close: async () => loop?.stop() },
      { name: 'attestations', close: async () => attesting?.close() },
      { name: 'halts', close: async () => halts?.close() },
      { name: 'oracle signers', close: async () => signers?.close() },
      { name: 'lease', close: () => elections.close() },
      { name: 'market', close: async () => market.close() },
      { name: 'deny list', close: async () => denyList?.close() },
      { name: 'deposits', close: () => deposits.close() },
      { name: 'chains', close: () => chains.close() },
      { name: 'hub', close: async () => parts.hub?.close() },
      { name: 'hub key', close: async () => parts.hubKey?.close() },
      { name: 'database', close: () => opened.close() },
      { name: 'signer', close: () => signer.close() },
      { name: 'traces', close: async () => tracing?.close() },
      { name: 'ops listener', close: () => opsListener.close() },
    ],
  }
}

/** Contracts that orders of a chain may name: its own first, alone where endpoints do not tell code of the others. */
async function contractsOf(
  chain: SolverChain,
): Promise<readonly [SolverChain, readonly (Hex | undefined)[]]> {
  const known = await chain.fillContracts?.().catch(() => undefined)
  return [chain, known ?? [chain.fillContract]]
}

/** Blocks that come faster than rounds do tell nothing that the next round does not see. @source F-118 */
const isSeenByClock = (chain: Pick<QuoteChain, 'blockTimeMs'>, everyMs: number): boolean =>
  chain.blockTimeMs < everyMs && everyMs <= paceMs(chain) / 4

async function readSolverName(database: Pick<SqlDatabase, 'query'>): Promise<string> {
  const [row] = await database.query<{ name: string }>('select name from solver_name')
  return row?.name ?? ''
}

function recoveriesOf({ hub, files: { chains, quote } }: Parts): Recoveries | undefined {
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

/** @throws ConfigurationError where the own wallet is none of those that share */
function sharingOf({ sharing }: LoadedFiles['solver'], own: Hex): Sharing {
  if (sharing === undefined) return { fillWallets: [own], own, turnSeconds: 0 }
  // CAST: the file's schema lets addresses alone through.
  const fillWallets = sharing.fillWallets.map((one) => one.toLowerCase() as Hex)
  if (!fillWallets.includes(own))
    throw new ConfigurationError(`solver: sharing.fillWallets lacks the fill wallet of this solver, ${own}`)
  return { fillWallets, own, turnSeconds: sharing.turnSeconds }
}
