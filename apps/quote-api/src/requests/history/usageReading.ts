import type { SqlDatabase } from '@causeway/core'
import {
  type Granularity,
  granularities,
  readOwnKeyIds,
  readSums,
  type UsageSum,
} from '../../access/usage/usageStore.ts'
import { QuoteError } from '../../pricing/errors.ts'

export type UsageQuery = {
  /** Public id of the key that asks. */
  readonly caller: string
  /** Absent: the caller's own. */
  readonly apiKeyIds?: readonly string[]
  readonly granularity: Granularity
  /** Unix seconds; absent: as far back as the granularity reaches. */
  readonly startSeconds?: number
  /** Unix seconds; absent: now. */
  readonly endSeconds?: number
}

/**
 * Counts of a key's answers, oldest first; the last seconds may be missing.
 * @throws QuoteError FORBIDDEN for a key of another wallet or of none, INVALID_REQUEST for a window that ends before it
 * starts or holds too much, UpstreamUnavailableError
 */
export type ReadUsage = (query: UsageQuery) => Promise<readonly UsageSum[]>

/** One answer's worth: a few megabytes. */
const sumsMax = 20_000

/** @param options.now Unix milliseconds */
export function createUsageReading(options: {
  database: Pick<SqlDatabase, 'query'>
  now: () => number
}): ReadUsage {
  const { database, now } = options
  return async ({ caller, apiKeyIds = [caller], granularity, ...period }) => {
    const window = usageWindow({ granularity, nowSeconds: Math.floor(now() / 1_000), ...period })
    const requestedIds = [...new Set(apiKeyIds)]
    const others = requestedIds.filter((id) => id !== caller)
    if (others.length > 0) {
      const own = await readOwnKeyIds(database, caller, others)
      if (others.some((id) => !own.has(id)))
        throw new QuoteError('FORBIDDEN', 'A key is shown its own figures, and those of keys of its wallet.')
    }
    const sums = await readSums(database, {
      granularity,
      apiKeyIds: requestedIds,
      ...window,
      limit: sumsMax + 1,
    })
    if (sums.length <= sumsMax) return sums
    const message = `These are more than ${sumsMax} figures: ask for a shorter window or a coarser granularity.`
    throw new QuoteError('INVALID_REQUEST', message, { data: { field: 'startTimestamp' } })
  }
}

/**
 * Beginnings of the buckets that a window touches, both included. Nothing is older than the granularity reaches,
 * whether it was deleted yet or not. Pure.
 * @throws QuoteError INVALID_REQUEST for a window that ends before it starts
 */
function usageWindow(period: {
  readonly granularity: Granularity
  readonly nowSeconds: number
  readonly startSeconds?: number
  readonly endSeconds?: number
}): { readonly fromSeconds: number; readonly toSeconds: number } {
  const { granularity, nowSeconds, startSeconds, endSeconds } = period
  if (startSeconds !== undefined && endSeconds !== undefined && startSeconds > endSeconds) {
    throw new QuoteError('INVALID_REQUEST', 'The window ends before it starts.', {
      data: { field: 'endTimestamp' },
    })
  }
  const { bucketSeconds, reachSeconds } = granularities[granularity]
  const oldest = nowSeconds - reachSeconds
  const start = Math.max(startSeconds ?? oldest, oldest)
  return {
    fromSeconds: Math.floor(start / bucketSeconds) * bucketSeconds,
    toSeconds: endSeconds ?? nowSeconds,
  }
}
