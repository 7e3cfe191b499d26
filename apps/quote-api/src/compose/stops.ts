import { setTimeout as sleep } from 'node:timers/promises'
import { type SqlDatabase, UpstreamUnavailableError } from '@causeway/core'
import { watchSeries } from '@causeway/http'
import type { ServiceParts } from '@causeway/service'
import type { QuoteRegistry } from '../pricing/registry.ts'
import { type ChainStops, createChainStops } from '../requests/stops/chainStops.ts'
import type { DatabaseClock } from '../requests/stops/databaseClock.ts'
import type { NetworkWatch } from '../requests/stops/networkWatch.ts'
import type { OwnTerms } from '../requests/stops/solverTerms.ts'
import {
  NetworkChangedError,
  SolverDiffersError,
  SomethingStoppedError,
} from '../requests/stops/stopErrors.ts'
import { everyChain } from '../requests/stops/stopStore.ts'

/**
 * Reads which chains are stopped, by whomever, and keeps reading. The first reading ends before this
 * resolves, so that no request is answered without it. Shows stops in metrics, readiness and the log.
 */
export async function openStops(
  service: ServiceParts<'jobs'>,
  options: {
    readonly database: SqlDatabase
    readonly own: OwnTerms
    readonly networks: Pick<NetworkWatch, 'broken'>
    readonly registry: Pick<QuoteRegistry, 'chainById'>
    readonly clock: DatabaseClock
  },
): Promise<ChainStops> {
  const { logger, onClose } = service
  const { database, own, networks, registry, clock } = options
  const nameOf = (chainId: number) =>
    chainId === everyChain ? 'all' : (registry.chainById.get(chainId)?.key ?? 'other')
  const stops = createChainStops({
    database,
    own,
    broken: () => networks.broken(),
    onChange(list) {
      const stopped = list.map(({ chainId, toldBy, reason, actor }) => ({
        chain: nameOf(chainId),
        toldBy,
        reason,
        actor,
      }))
      logger.warn({ event: 'chains_stopped', stopped }, 'other chains are stopped from now on')
    },
    clock,
    onFailure: (error) => logger.warn({ err: error }, 'stops of chains are not read: the last ones hold'),
  })
  onClose('jobs', 'stops', () => stops.close())
  await retryAtStart(() => stops.refresh())
  watchStops(service, { stops, networks, nameOf })
  checkStops(service, stops, networks)
  stops.start()
  return stops
}

type Networks = Pick<NetworkWatch, 'broken'>

function watchStops(
  { metrics }: ServiceParts<never>,
  parts: {
    readonly stops: ChainStops
    readonly networks: Networks
    readonly nameOf: (chainId: number) => string
  },
): void {
  const { stops, networks, nameOf } = parts
  watchSeries(
    metrics.registry,
    {
      name: 'chain_stopped',
      help: 'Chains on which nothing new begins, by who stopped them: the operator, oracles, which halted it, its head, which stands, the solver, which does not pay there, its terms, which differ from those of this service, its network, which is not as the files say, or the watcher, which cannot read deposits there',
      labelNames: ['chain', 'by'],
    },
    () =>
      stops.list().map(({ chainId, toldBy, actor }) => {
        // quote-api stops a chain as `operator` when a final block changed: the label tells this from an operator's stop.
        const by = toldBy === 'operator' && actor === 'quote-api' ? actor : toldBy
        return { labels: { chain: nameOf(chainId), by }, value: 1 }
      }),
  )
  watchSeries(
    metrics.registry,
    {
      name: 'solver_differences',
      help: 'Settings in which a solver and this service differ, by what they are about',
      labelNames: ['kind', 'chain'],
    },
    () => {
      const seriesLabels = stops.differences().map(({ kind, chainId }) => [kind, nameOf(chainId)] as const)
      // Several differences of a kind on a chain are one series.
      const uniqueLabels = new Map(seriesLabels.map((labels) => [labels.join(), labels]))
      return [...uniqueLabels.values()].map(([kind, chain]) => ({ labels: { kind, chain }, value: 1 }))
    },
  )
  watchSeries(
    metrics.registry,
    {
      name: 'chain_assumption_broken',
      help: 'What the files say of networks and is not so, by chain; all: of no chain',
      labelNames: ['chain', 'what'],
    },
    () =>
      networks.broken().map(({ chainId, what }) => ({ labels: { chain: nameOf(chainId), what }, value: 1 })),
  )
}

/**
 * Adds readiness checks. `isShownOnly`: all processes fail it alike, so that it leaves them ready. The errors
 * take a list with at least one entry, as `[first, ...others]` is.
 */
function checkStops({ check: add }: ServiceParts<never>, stops: ChainStops, networks: Networks): void {
  add({
    name: 'networks',
    isShownOnly: true,
    async check() {
      const [first, ...others] = networks.broken()
      if (first !== undefined) throw new NetworkChangedError([first, ...others])
    },
  })
  add({
    name: 'solver',
    isShownOnly: true,
    async check() {
      const [first, ...others] = stops.differences()
      if (first !== undefined) throw new SolverDiffersError([first, ...others])
    },
  })
  add({ name: 'clock', check: async () => stops.requireClock() })
  add({
    name: 'stops',
    isShownOnly: true,
    async check() {
      const list = stops.list()
      if (list.length > 0) throw new SomethingStoppedError(list)
    },
  })
}

const startTriesMax = 10
const startPauseMs = 1_000

/** Tries a task of the start again while the database does not answer, so that a short outage does not end the start. */
export async function retryAtStart(task: () => Promise<void>): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await task()
    } catch (error) {
      if (tries === startTriesMax || !(error instanceof UpstreamUnavailableError)) throw error
      await sleep(startPauseMs)
    }
  }
}
