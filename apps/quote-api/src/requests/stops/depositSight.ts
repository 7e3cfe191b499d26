import type { SqlDatabase } from '@causeway/core'

type Queries = Pick<SqlDatabase, 'query'>

/** A chain whose deposits are watched. */
export type WatchedForDeposits = {
  readonly chainId: number
  /** So long its newest blocks may not be read before quotes from it stop. */
  readonly patienceMs: number
  /** So long its newest block may be the same before quotes from and to it stop. */
  readonly headPatienceMs: number
}

/** A watcher whose looks are further apart than the setting has two of them. Pure. @source rule O-60 */
export function patienceMsOf(settingMs: number, lookEveryMs: number): number {
  return Math.ceil(Math.max(settingMs, 2 * lookEveryMs))
}

/** Replaces the chains that have to be read. One that was read before keeps its time. */
export async function expectSight(database: Queries, chains: readonly WatchedForDeposits[]): Promise<void> {
  await database.query('delete from deposit_sight where chain_id <> all($1::bigint[])', [
    chains.map(({ chainId }) => chainId),
  ])
  await database.query(
    `insert into deposit_sight (chain_id, patience_ms, head_patience_ms)
     select * from unnest($1::bigint[], $2::bigint[], $3::bigint[]) on conflict (chain_id)
     do update set patience_ms = excluded.patience_ms, head_patience_ms = excluded.head_patience_ms`,
    [
      chains.map(({ chainId }) => chainId),
      chains.map(({ patienceMs }) => patienceMs),
      chains.map(({ headPatienceMs }) => headPatienceMs),
    ],
  )
}

const noteEveryMs = 1_000

/** Notes that the newest blocks of a chain were read to their end, once a second at most. */
export function createSightNotes(
  database: Queries,
  { chainId, patienceMs }: Omit<WatchedForDeposits, 'headPatienceMs'>,
  now: () => number,
): () => Promise<void> {
  let notedAtMs = -Infinity
  return async () => {
    if (now() - notedAtMs < noteEveryMs) return
    await database.query(
      `insert into deposit_sight (chain_id, patience_ms) values ($1, $2)
       on conflict (chain_id) do update set read_at = clock_timestamp()`,
      [chainId, patienceMs],
    )
    notedAtMs = now()
  }
}
