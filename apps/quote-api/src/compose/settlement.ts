import { createOracleClient, type OracleSettings } from '@causeway/chains'
import type { Ledger, SqlDatabase } from '@causeway/core'
import { paceMs } from '@causeway/core/config'
import type { HttpMetrics, Tracing } from '@causeway/http'
import { recoverSigner } from '@causeway/signer'
import type { Peppers } from '../access/keys/peppers.ts'
import { createWakeSignal, type Job } from '../jobs/runJobs.ts'
import type { DepositPricing } from '../pricing/priceDeposit.ts'
import type { OrderSignatures } from '../requests/orders/orderSignatures.ts'
import { followPermits } from '../requests/permits/followPermits.ts'
import type { Screening } from '../requests/screening/screenedRequest.ts'
import { followReportedTransactions } from '../requests/selfExecution/followReportedTransactions.ts'
import { createBookingNotes } from '../requests/settlement/amounts/bookings.ts'
import { createLateDeposits, otherRefundCost } from '../requests/settlement/amounts/priceLateDeposit.ts'
import { createLostDeposits } from '../requests/settlement/binding/lostDeposits.ts'
import type { SettlementChain } from '../requests/settlement/chain/settlementChain.ts'
import { createAttestedDebits } from '../requests/settlement/fills/attestedDebitsJob.ts'
import { type AttestationContext, attestFills } from '../requests/settlement/fills/attestFills.ts'
import { followFills } from '../requests/settlement/fills/followFills.ts'
import { retryPutAside } from '../requests/settlement/finding/foundDeposits.ts'
import { createReadNamed, type ReadNamed } from '../requests/settlement/finding/readNamed.ts'
import { createDepositWatcher } from '../requests/settlement/finding/watchDeposits.ts'
import { createStandstillJob } from '../requests/settlement/parked/standstillJob.ts'
import { createWithholding } from '../requests/settlement/payments/withholdWork.ts'
import { followRecoveries, type RecoveryContext } from '../requests/settlement/recovery/followRecoveries.ts'
import { followRefunds } from '../requests/settlement/refunds/followRefunds.ts'
import type { SettlementContext } from '../requests/settlement/settlementContext.ts'
import { createSettlementObserver } from '../requests/settlement/settlementMetrics.ts'
import type { ChainStops } from '../requests/stops/chainStops.ts'
import { expectSight, patienceMsOf } from '../requests/stops/depositSight.ts'
import { createNewBlocks } from '../requests/work/followWork.ts'
import type { Withholding } from '../requests/work/solverWork.ts'
import { announceStatus } from '../webhooks/announceStatus.ts'
import { type ChainOptions, openChains, openRecoveries } from './settlementReaders.ts'

export type Settlement = {
  /** Chains that can be read, by chain id. */
  readonly chains: ReadonlyMap<number, SettlementChain>
  readonly jobs: readonly Job[]
  /** Rules that withhold work from solvers. */
  readonly withholding: Withholding
  /** Closes the connection to the hub, which is opened here; those to chains stay open. */
  close(): Promise<void>
  /** Wakes the followers of payments, and the watcher of a chain's deposits; without a chain all watchers. */
  hint(chainId?: number): void
  /** Reads the deposits of a transaction that a caller names. */
  readonly readNamed: ReadNamed
  /**
   * From now on quotes stop for every chain that no process of this database reads. Called once, before
   * anything is quoted, as a function on its own, without `this`.
   */
  expectSight(): Promise<void>
  /** As `hint`; besides, items that wait for the next block of this chain are due at once. */
  newBlock(chainId: number): void
}

/** Pause of jobs that follow the hub and the oracles, and the longest one of jobs that follow chains. */
const hubIntervalMs = 1_000
const putAsideIntervalMs = 10_000

type SettlementOptions = ChainOptions & {
  oracles: OracleSettings | undefined
  database: SqlDatabase
  ledger: Ledger
  /** Requests and claims without progress for longer are listed. */
  standstillSeconds: number
  /** Quotes from a chain stop when its newest blocks were not read for longer. */
  depositsUnreadSeconds: number
  lateDeposits: Parameters<typeof createLateDeposits>[0]['settings']
  pricing: DepositPricing
  signatures: OrderSignatures
  peppers: Peppers
  screening: Screening | undefined
  metrics: HttpMetrics
  tracing: Tracing | undefined
  stops: Pick<ChainStops, 'now'>
}

/**
 * The jobs that take requests from their deposit to their end: a watcher of deposits per chain, followers of fills,
 * refunds and recoveries, and those that prove fills to the hub.
 */
export function createSettlement(options: SettlementOptions): Settlement {
  const chains = openChains(options)
  const context = contextOf(options, chains)
  const recovering = openRecoveries(options, context)
  // A chain's newest blocks may stay unread for so long before quotes from it stop.
  const patienceOf = (chain: SettlementChain) =>
    patienceMsOf(options.depositsUnreadSeconds * 1_000, pauseOf(chain))
  const watchers = new Map(
    [...chains].map(([chainId, chain]) => [chainId, watcherOf(context, chain, patienceOf(chain))]),
  )
  const following = followersOf(context, recovering)
  const hint = (chainId?: number) => {
    for (const { waker } of following.jobs) waker?.wake()
    const hintedWatchers = chainId === undefined ? [...watchers.values()] : [watchers.get(chainId)]
    for (const watcher of hintedWatchers) watcher?.waker?.wake()
  }
  return {
    chains,
    jobs: [
      ...watchers.values(),
      ...following.jobs,
      { name: 'put-aside', intervalMs: putAsideIntervalMs, run: (run) => retryPutAside(context, run) },
      createLostDeposits(context),
      createStandstillJob(context, options.standstillSeconds),
      ...provingJobs(options, context),
    ],
    withholding: createWithholding(context),
    hint,
    close: recovering.close,
    readNamed: createReadNamed(context),
    expectSight() {
      const expectedSights = [...chains].map(([chainId, chain]) => ({
        chainId,
        patienceMs: patienceOf(chain),
        headPatienceMs: chain.chain.config.headMaxAgeMs,
      }))
      return expectSight(options.database, expectedSights)
    },
    newBlock(chainId) {
      following.newBlock(chainId)
      hint(chainId)
    },
  }
}

/** Dependencies that all settlement jobs share. */
function contextOf(
  options: SettlementOptions,
  chains: ReadonlyMap<number, SettlementChain>,
): SettlementContext {
  const { database, ledger, oracles, screening, logger } = options
  const now = () => options.stops.now()
  return {
    database,
    ledger,
    chains,
    lateDeposits: createLateDeposits({
      settings: options.lateDeposits,
      pricing: options.pricing,
      now,
      onFailure: (requestId, error) => logger.error({ requestId, err: error }, 'a deposit cannot be priced'),
    }),
    otherRefund: (chain, currency, relayedBy) => otherRefundCost(options.pricing, chain, currency, relayedBy),
    screening,
    signatures: options.signatures,
    bookings: createBookingNotes(options.peppers),
    announce: announceStatus,
    now,
    observe: createSettlementObserver({
      ...options,
      oracleNames: (oracles?.oracles ?? []).map(({ name }) => name),
    }),
  }
}

/**
 * Jobs that carry payments on. They run at intervals, and soon after a hint or a new block. Each of the jobs
 * that wait for blocks has a list of chains of its own, because taking the list empties it.
 */
function followersOf(
  context: SettlementContext,
  recovering: RecoveryContext,
): { readonly jobs: readonly Job[]; newBlock(chainId: number): void } {
  const newBlocks = { fills: createNewBlocks(), refunds: createNewBlocks(), selfExecuted: createNewBlocks() }
  const intervalMs = Math.min(...[...context.chains.values()].map(pauseOf), hubIntervalMs)
  const follower = (name: string, run: Job['run'], jobIntervalMs = intervalMs): Job => ({
    name,
    intervalMs: jobIntervalMs,
    waker: createWakeSignal(),
    run,
  })
  return {
    jobs: [
      follower('fills', (run) => followFills(context, run, newBlocks.fills.take())),
      follower('refunds', (run) => followRefunds(context, run, newBlocks.refunds.take())),
      follower('recoveries', (run) => followRecoveries(recovering, run), hubIntervalMs),
      follower('permits', (run) => followPermits(context, run)),
      follower('self-executed', (run) =>
        followReportedTransactions(context, run, newBlocks.selfExecuted.take()),
      ),
    ],
    newBlock(chainId) {
      for (const blocks of Object.values(newBlocks)) blocks.add(chainId)
    },
  }
}

/** Jobs that prove fills; without oracles there are none. */
function provingJobs(options: SettlementOptions, context: SettlementContext): readonly Job[] {
  const { registry, oracles, tracing, logger } = options
  if (oracles === undefined) {
    logger.warn('no ORACLES: fills are not proven and nothing settles')
    return []
  }
  const tracedBy = () => tracing?.headers() ?? {}
  const clients = oracles.oracles.map((setting) =>
    createOracleClient({ setting, recover: recoverSigner, tracedBy }),
  )
  const proving: AttestationContext = {
    ...context,
    oracles: clients,
    threshold: oracles.threshold,
    networkOf: registry.networkByKey,
    ...(tracing !== undefined && {
      trace: ({ requestId, orderId }, work) =>
        tracing.runTrace(
          'prove fill',
          { 'causeway.request_id': requestId, 'causeway.order_id': orderId },
          work,
        ),
    }),
  }
  return [
    { name: 'attestations', intervalMs: hubIntervalMs, run: (run) => attestFills(proving, run) },
    createAttestedDebits({
      context: { ...proving, recover: recoverSigner },
      metrics: options.metrics,
      logger,
    }),
  ]
}

function watcherOf(context: SettlementContext, chain: SettlementChain, patienceMs: number): Job {
  return {
    name: `deposits-${chain.chain.key}`,
    intervalMs: pauseOf(chain),
    waker: createWakeSignal(),
    run: createDepositWatcher(context, chain, patienceMs),
  }
}

/** A quarter of a block's time, so that a deposit is seen before the next block. */
function pauseOf({ chain }: SettlementChain): number {
  return paceMs(chain.config) / 4
}
