import type { SqlDatabase } from '@causeway/core'

type Queries = Pick<SqlDatabase, 'query'>

/** A chain whose deposits are watched, with the times after which quotes stop because nothing is seen of it. */
export type WatchedForDeposits = {
  readonly chainId: number
  /** Quotes from it stop once its newest blocks could not be read for this long. */
  readonly patienceMs: number
  /** Quotes from and to it stop once its newest block was the same for this long. */
  readonly headPatienceMs: number
}

/** The configured patience, but at least the time of two looks of the watcher. Pure. @source rule O-60 */
export function patienceMsOf(settingMs: number, lookEveryMs: number): number {
  return Math.ceil(Math.max(settingMs, 2 * lookEveryMs))
}

/** Stores which chains must be read, at the start of the service; a known chain keeps the time of its last reading. */
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

/** The newest block that was read, and the Unix time at which it was the newest one of a quorum, if it was. */
type NewestRead = {
  readonly scannedTo: bigint
  readonly scannedHash: string
  readonly newestAtSeconds: number | undefined
}

export type SightNotes = (newest: NewestRead | undefined) => Promise<void>

/**
 * Notes that the newest blocks of a chain were read to their end, once a second at most. A cursor that still is at the
 * block learns that no newer one existed until then: deposits above it count as made later.
 */
export function createSightNotes(
  database: Queries,
  { chainId, patienceMs }: Omit<WatchedForDeposits, 'headPatienceMs'>,
  now: () => number,
): SightNotes {
  let notedAtMs = -Infinity
  return async (newest) => {
    // A host's clock that was ahead and is set right must not end the notes until it is there again.
    if (Math.abs(now() - notedAtMs) < noteEveryMs) return
    await database.query(
      `with newest as (update deposit_cursor set newest_at = greatest(newest_at, to_timestamp($5))
         where chain_id = $1 and scanned_to = $3 and scanned_hash = $4 and newest_at is not null)
       insert into deposit_sight (chain_id, patience_ms) values ($1, $2)
       on conflict (chain_id) do update set read_at = clock_timestamp()`,
      [
        chainId,
        patienceMs,
        newest?.scannedTo ?? null,
        newest?.scannedHash ?? null,
        newest?.newestAtSeconds ?? null,
      ],
    )
    notedAtMs = now()
  }
}
