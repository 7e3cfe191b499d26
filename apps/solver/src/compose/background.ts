import { followNewHeads, type OracleSight } from '@causeway/chains'
import { paceMs, type QuoteChain } from '@causeway/core/config'
import { type ServiceParts, watchPushes } from '@causeway/service'
import type { DepositReader } from '../facts/deposits.ts'
import type { Filling, SolverChain } from '../filling/filling.ts'
import { createRound } from '../filling/solverRound.ts'
import { createStopSwitch } from '../wallet/stopSwitch.ts'
import { type OwnTerms, termsQuery } from '../work/ownTerms.ts'
import { createWorkClient, type WorkSource } from '../work/workClient.ts'
import { type WorkWatch, watchWork } from '../work/workWatch.ts'
import { type Attesting, startAttesting } from './attesting.ts'
import type { LoadedFiles } from './files.ts'
import { type HaltedChains, watchHalts } from './haltedChains.ts'
import { createRoundSignals, type RoundSignals, startLoop } from './loop.ts'
import type { SolverMetrics } from './metrics.ts'
import type { PayingParts } from './openFilling.ts'
import { logDifferences, logHandled } from './workLog.ts'
import { readSolverName, type World } from './world.ts'

/** If no round has ended for so long, readiness fails. */
const roundMaxAgeMs = 60_000

/**
 * Parts that work in the background. They are made last, by `startBackground`, and set here: the parts made before them read
 * a member when they need it, and find it absent until then.
 */
export type BackgroundParts = {
  halts?: HaltedChains
  attesting?: Attesting
  watch?: WorkWatch
  /** Unix ms of the last round's end; before the first round's end, of the solver's start. */
  lastRoundMs: number
}

/** Parts of a solver, in the order in which they are made. */
export type SolverParts = {
  readonly world: World
  readonly metrics: SolverMetrics
  readonly paying: PayingParts
  readonly deposits: DepositReader
  /** Tells which oracles answer; undefined without oracles. */
  readonly sight: OracleSight | undefined
  readonly background: BackgroundParts
  readonly filling: Filling
  readonly work: WorkSource
  readonly round: Rounds
}

/**
 * Opens the source of work. Its queries tell quote-api the solver's terms, and the chains on which nothing is to be
 * sold.
 */
export async function openWork(
  { logger, tracing }: ServiceParts<never>,
  parts: Pick<SolverParts, 'world' | 'filling' | 'background'>,
): Promise<WorkSource> {
  const { config, settings, files, database } = parts.world
  const { filling, background } = parts
  const name = await readSolverName(database)
  const terms = termsQuery({
    orderSigners: settings.orderSigners,
    chains: (await Promise.all(filling.chains.map((chain) => readChainTerms(chain, files)))).flat(),
    sharedWallets: files.solver.sharing?.fillWallets ?? [],
    lossPerOrderMicroUsd: files.solver.lossPerOrderMicroUsd,
  })
  return createWorkClient(settings.quoteApiUrl, settings.solverApiKey, {
    tracing,
    // A dry run does not tell its terms: quote-api would stop what they contradict.
    terms: config.isDryRun ? {} : { solver: name, ...terms },
    onDifferences: logDifferences(logger),
    unattested: () => background.attesting?.exposure() ?? [],
    stopped: () => [
      ...(background.attesting?.full() ?? []),
      ...filling.chains.flatMap(({ key, chainId }) => (filling.isHalted(key) ? [chainId] : [])),
    ],
  })
}

type Rounds = ReturnType<typeof createRound>

/** Makes the function that runs a round, and the readiness check that one has ended lately. */
export function openRounds(
  { logger, tracing, check }: ServiceParts<never>,
  parts: Omit<SolverParts, 'round'>,
): Rounds {
  const { world, metrics, filling, work, background } = parts
  const stop = createStopSwitch(world.database)
  check({
    name: 'work',
    async check() {
      const isLate = performance.now() - background.lastRoundMs > roundMaxAgeMs
      if (isLate) throw new Error('no round has ended for a minute')
    },
  })
  return createRound({
    filling,
    // The watch hands over the answer of its long poll; until it is made, each round lists the work itself.
    work: { ...work, open: () => background.watch?.open() ?? work.open() },
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

/** Terms of a chain, one entry for each fill contract that its orders may name, the chain's own first. */
async function readChainTerms(chain: SolverChain, { solver }: LoadedFiles): Promise<OwnTerms['chains']> {
  const { key, chainId, desk, fillContract: ownContract } = chain
  // If the code of replaced contracts cannot be read, orders may name the chain's own alone.
  const contracts = (await chain.fillContracts?.().catch(() => undefined)) ?? [ownContract]
  const floors = solver.chains[key]?.floors ?? []
  return contracts.map((fillContract, index) => ({
    chainId,
    wallet: desk.address,
    fillContract,
    // Floors are of the wallet, so one entry tells them.
    floors: index === 0 ? floors : [],
  }))
}

/**
 * Starts the work in the background: halts, attestations, the long poll for work, new blocks, and then the
 * rounds. The members of `background` are set before the first round, which must know halted chains. Called
 * once, at the solver's start.
 */
export async function startBackground(service: ServiceParts<'jobs'>, parts: SolverParts): Promise<void> {
  const { logger, onClose } = service
  const { world, paying, deposits, sight, work, round, background } = parts
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
  Object.assign(background, { halts, attesting, watch })
  followBlocks(service, world, signals)
  const loop = startLoop({
    everyMs: pollIntervalMs,
    waker: signals,
    async run(roundSignal) {
      await round(roundSignal)
      background.lastRoundMs = performance.now()
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

/**
 * True for a chain whose new blocks need no signal: they come faster than rounds by the clock, and four such
 * rounds or more fit into the time between two reads of its state (`paceMs`). @source F-118
 */
const isSeenByClock = (chain: Pick<QuoteChain, 'blockTimeMs'>, everyMs: number): boolean =>
  chain.blockTimeMs < everyMs && 4 * everyMs <= paceMs(chain)
