import type { SqlDatabase } from '@causeway/core'
import {
  type Granularity,
  granularities,
  readOwnKeyIds,
  readSums,
  type UsageSum,
} from '../../access/usage/usageStore.ts'
import { QuoteError } from '../../pricing/errors.ts'

/** Question of an integrator about the use of its API keys. */
export type UsageQuery = {
  /** Id of the API key that asks. */
  readonly caller: string
  /** Keys to report; absent: the caller's own. */
  readonly apiKeyIds?: readonly string[]
  readonly granularity: Granularity
  /** Unix seconds; absent: as far back as the granularity reaches. */
  readonly startSeconds?: number
  /** Unix seconds; absent: now. */
  readonly endSeconds?: number
}

/**
 * Reads how many answers keys got, in buckets of time, oldest first. The last seconds may be missing.
 * @throws QuoteError FORBIDDEN for a key of another wallet or of none, INVALID_REQUEST for a window that ends before it
 * starts or holds too much, UpstreamUnavailableError
 */
export type ReadUsage = (query: UsageQuery) => Promise<readonly UsageSum[]>

/** Most figures of one answer, which is then a few megabytes. */
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
      const ownKeyIds = await readOwnKeyIds(database, caller, others)
      if (others.some((id) => !ownKeyIds.has(id)))
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
 * The first and the last time at which buckets of a window may begin, both included. The window never begins
 * before what the granularity keeps, even if older buckets were not deleted yet. Pure.
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
