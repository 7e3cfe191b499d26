import type { SqlDatabase } from '@causeway/core'
import { createRefreshLoop } from '../../jobs/refreshLoop.ts'
import { readReactions } from './measurementStore.ts'

/** Learned reaction times of solvers, kept in memory, from which a quote estimates its duration. */
export interface ReactionTimes {
  /** Reaction time on a route in milliseconds; `undefined` before the route has enough fills. */
  of(originChainId: number, destinationChainId: number): number | undefined
  /** Reads the stored measurements. @throws UpstreamUnavailableError; the known times then stay in use */
  refresh(): Promise<void>
  /** Refreshes every 30 seconds until closed. */
  start(): void
  close(): Promise<void>
}

const refreshMs = 30_000
const fillsPerRoute = 200
const maxAgeDays = 7

export function createReactionTimes(options: {
  database: Pick<SqlDatabase, 'query'>
  chainIds: readonly number[]
  onFailure: (error: unknown) => void
}): ReactionTimes {
  const { database, chainIds, onFailure } = options
  let reactionMsByRoute: ReadonlyMap<string, number> = new Map()

  const refresh = async () => {
    const routes = await readReactions(database, { chainIds, fillsPerRoute, days: maxAgeDays })
    reactionMsByRoute = new Map(
      routes.flatMap(({ originChainId, destinationChainId, reactionsMs }) => {
        const learned = learnedReactionMs(reactionsMs)
        return learned === undefined ? [] : [[routeKey(originChainId, destinationChainId), learned] as const]
      }),
    )
  }
  return {
    of: (originChainId, destinationChainId) =>
      reactionMsByRoute.get(routeKey(originChainId, destinationChainId)),
    refresh,
    ...createRefreshLoop(() => refresh().catch(onFailure), refreshMs),
  }
}

function routeKey(originChainId: number, destinationChainId: number): string {
  return `${originChainId} ${destinationChainId}`
}

/** Number of fills below which nothing is learned about a route. */
export const reactionSamplesMin = 20
/** The third quartile, so that three of four fills arrive within the estimate. */
const percentile = 0.75

/**
 * Time that solvers of a route need beyond confirmations and blocks. A percentile of the observed times, so that one fill
 * that hung for hours does not change it. Pure.
 * @param reactionsMs of recent fills, in any order
 * @returns milliseconds, at least 0; `undefined` after too few fills
 */
export function learnedReactionMs(reactionsMs: readonly number[]): number | undefined {
  if (reactionsMs.length < reactionSamplesMin) return undefined
  const sorted = reactionsMs.toSorted((a, b) => a - b)
  return Math.max(sorted[Math.ceil(percentile * sorted.length) - 1] ?? 0, 0)
}
