import { setTimeout as sleep } from 'node:timers/promises'
import type { SqlDatabase } from '@causeway/core'
import { readReactions } from './measurementStore.ts'

/** Reaction times of solvers for quotes: from memory, refreshed in the background. */
export interface ReactionTimes {
  /** Milliseconds; `undefined` while too little was seen of the route. */
  of(originChainId: number, destinationChainId: number): number | undefined
  /** Reads what was measured. @throws UpstreamUnavailableError, and what was known stays */
  refresh(): Promise<void>
  /** Refreshes again and again until closed. */
  start(): void
  close(): Promise<void>
}

const refreshMs = 30_000
const fillsPerRoute = 200
const days = 7

export function createReactionTimes(options: {
  database: Pick<SqlDatabase, 'query'>
  chainIds: readonly number[]
  onFailure: (error: unknown) => void
}): ReactionTimes {
  const { database, chainIds, onFailure } = options
  const closing = new AbortController()
  let reactionMsByRoute: ReadonlyMap<string, number> = new Map()
  let ended: Promise<void> = Promise.resolve()

  const refresh = async () => {
    const routes = await readReactions(database, { chainIds, fillsPerRoute, days })
    reactionMsByRoute = new Map(
      routes.flatMap(({ originChainId, destinationChainId, reactionsMs }) => {
        const learned = learnedReactionMs(reactionsMs)
        return learned === undefined ? [] : [[routeKey(originChainId, destinationChainId), learned] as const]
      }),
    )
  }
  const repeat = async () => {
    while (!closing.signal.aborted) {
      await refresh().catch(onFailure)
      await sleep(refreshMs, undefined, { signal: closing.signal }).catch(() => {})
    }
  }
  return {
    of: (originChainId, destinationChainId) =>
      reactionMsByRoute.get(routeKey(originChainId, destinationChainId)),
    refresh,
    start() {
      ended = repeat()
    },
    async close() {
      closing.abort()
      await ended
    },
  }
}

function routeKey(originChainId: number, destinationChainId: number): string {
  return `${originChainId} ${destinationChainId}`
}

/** Fewer fills say too little about a route. */
export const reactionSamplesMin = 20
/** Three fills of four come no later than they were said to. */
const percentile = 0.75

/**
 * Reaction time of a solver on a route beyond confirmations and blocks, learned from its newest fills. It is one of the
 * observed times, so that a fill that hung for hours changes nothing. Pure.
 * @param reactionsMs of recent fills, in any order
 * @returns milliseconds, at least 0; `undefined` after too few fills
 */
export function learnedReactionMs(reactionsMs: readonly number[]): number | undefined {
  if (reactionsMs.length < reactionSamplesMin) return undefined
  const sorted = reactionsMs.toSorted((a, b) => a - b)
  return Math.max(sorted[Math.ceil(percentile * sorted.length) - 1] ?? 0, 0)
}
