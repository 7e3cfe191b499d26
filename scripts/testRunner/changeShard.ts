// Beside `npm test` every change runs one shard of a further suite, so that no suite rots unseen.
import { type Suite, suiteFiles } from './suites.ts'

/** Shards of each suite, in turn by the day; one takes some seven minutes on two cores. */
const shardCounts: Readonly<Record<Suite, number>> = {
  clients: 4,
  families: 4,
  operations: 4,
  production: 5,
  settlement: 4,
  faults: 5,
}

/** Which suites a change of a path may break, by the beginning of the path. What stands nowhere breaks none of them. */
export const suitesByPath: readonly (readonly [path: string, suites: readonly Suite[]])[] = [
  ['apps/allocator/', ['settlement']],
  ['apps/oracle/', ['families', 'operations', 'settlement']],
  ['apps/quote-api/src/compose/', ['operations', 'production']],
  ['apps/quote-api/src/http/', ['clients', 'operations']],
  ['apps/quote-api/src/money/', ['faults', 'settlement']],
  ['apps/quote-api/src/pricing/', ['families', 'faults']],
  ['apps/quote-api/src/requests/', ['families', 'settlement']],
  ['apps/quote-api/src/webhooks/', ['settlement']],
  ['apps/quote-api/src/', ['operations']],
  ['apps/solver/', ['families', 'settlement']],
  ['configs/', ['production']],
  ['docker/', ['production']],
  ['docs/guides/', ['clients']],
  ['docs/operating/', ['operations', 'production']],
  ['packages/attestations/', ['families', 'settlement']],
  ['packages/chains/', ['families', 'operations']],
  ['packages/console/', ['clients']],
  ['packages/contracts/', ['faults', 'settlement']],
  ['packages/core/', ['families', 'faults', 'settlement']],
  ['packages/database/', ['operations', 'production']],
  ['packages/families/', ['families', 'faults', 'settlement']],
  ['packages/http/', ['clients', 'operations']],
  ['packages/ledger/', ['faults', 'operations', 'production']],
  ['packages/localnet/', ['clients']],
  ['packages/market/', ['faults', 'operations']],
  ['packages/rpc/', ['families', 'operations']],
  ['packages/service/', ['operations', 'production']],
  ['packages/signer/', ['operations']],
  ['scripts/rehearsal', ['production']],
  ['scripts/field', ['production']],
  ['scripts/', ['clients']],
]

export type Shard = { readonly suite: Suite; readonly index: number; readonly count: number }

/** Suites that the changed files touch: those of the longest known beginning of each path, and that of a changed test. */
export function touchedSuites(paths: readonly string[]): readonly Suite[] {
  const touched = new Set(paths.flatMap(suitesOf))
  return suiteNames.filter((suite) => touched.has(suite))
}

/**
 * A shard of a touched suite; of any suite where none is touched or nobody knows what changed. The day alone draws it, so
 * that a second run on the same day runs the same.
 */
export function chooseShard(touched: readonly Suite[], now: Date): Shard {
  const suites = touched.length > 0 ? touched : suiteNames
  const shards = suites.flatMap((suite) =>
    Array.from({ length: shardCounts[suite] }, (_, place) => ({
      suite,
      index: place + 1,
      count: shardCounts[suite],
    })),
  )
  const day = Math.floor(now.getTime() / millisecondsPerDay)
  const shard = shards[day % shards.length]
  if (shard === undefined) throw new Error('no suite has a shard')
  return shard
}

const millisecondsPerDay = 86_400_000

// CAST: Object.keys() forgets the names of a record that is constant.
const suiteNames = Object.keys(shardCounts) as readonly Suite[]

function suitesOf(path: string): readonly Suite[] {
  const own = suiteNames.filter((suite) => suiteFiles[suite].some((file) => file === path))
  if (own.length > 0) return own
  // A table in the order of the alphabet: where two beginnings fit, the longer one counts.
  const fitting = suitesByPath
    .filter(([beginning]) => path.startsWith(beginning))
    .toSorted(([one], [other]) => other.length - one.length)
  return fitting[0]?.[1] ?? []
}
