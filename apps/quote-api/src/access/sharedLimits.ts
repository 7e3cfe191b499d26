import { createHash } from 'node:crypto'
import type { SqlDatabase } from '@causeway/core'
import type { ClaimUnits, UnitClaim } from '@causeway/http'
import type { Job } from '../jobs/runJobs.ts'

/**
 * Counts all claims in one statement. A window begins with its first claim, by the clock of the database; a
 * claim is granted what is left of the limit. None wants more than the whole limit, so the first is granted
 * all. `taken` sums what the window has granted, `granted` is the last claim's part of it. `allowed` is the
 * greatest limit that was claimed under: the table refuses a `taken` above it. Rows are locked in one order,
 * so that replicas never deadlock.
 */
const claimSql = `
  insert into limit_window as w (bucket, caller, ends_at, allowed, taken, granted)
  select bucket, caller, statement_timestamp() + window_ms * interval '1 millisecond', allowed, wanted, wanted
  from unnest($1::text[], $2::bytea[], $3::int[], $4::int[], $5::int[])
    as claim (bucket, caller, window_ms, allowed, wanted)
  order by bucket, caller
  on conflict (bucket, caller) do update set
    ends_at = case when w.ends_at <= statement_timestamp() then excluded.ends_at else w.ends_at end,
    allowed = greatest(w.allowed, excluded.allowed),
    granted = case when w.ends_at <= statement_timestamp() then excluded.granted
      else least(excluded.granted, greatest(0, excluded.allowed - w.taken)) end,
    taken = case when w.ends_at <= statement_timestamp() then excluded.taken
      else w.taken + least(excluded.granted, greatest(0, excluded.allowed - w.taken)) end
  returning bucket, encode(caller, 'hex') as caller, granted, taken,
    greatest(1, ceil(extract(epoch from ends_at - statement_timestamp()) * 1000))::int as ends_in_ms`

/** Counts claims of all replicas in their database; callers are stored as hashes. Throws if the database does not answer. */
export function claimInDatabase(database: Pick<SqlDatabase, 'query'>): ClaimUnits {
  return async (claims) => {
    const callers = claims.map(hashOf)
    const rows = await database.query(claimSql, [
      claims.map(({ bucket }) => bucket),
      callers,
      claims.map(({ windowMs }) => windowMs),
      claims.map(({ max }) => max),
      claims.map(({ wanted }) => wanted),
    ])
    const grants = new Map(
      rows.map(({ bucket, caller, granted, taken, ends_in_ms }) => [
        `${bucket} ${caller}`,
        { granted: Number(granted), taken: Number(taken), endsInMs: Number(ends_in_ms) },
      ]),
    )
    return claims.map(({ bucket }, index) => {
      const grant = grants.get(`${bucket} ${callers[index]?.toString('hex')}`)
      if (grant === undefined) throw new Error(`nothing was counted for a caller of ${bucket}`)
      return grant
    })
  }
}

/** Half of a SHA-256 hash keeps rows short, and still no two callers share a window. */
function hashOf({ bucket, caller }: UnitClaim): Buffer {
  return createHash('sha256').update(`${bucket} ${caller}`).digest().subarray(0, 16)
}

const forgetIntervalMs = 60_000
/** Rows deleted in one transaction, which keeps it short. */
const batchMax = 10_000

/** Job that deletes windows that are over, so that the table holds about a minute's callers. */
export function createWindowCleaner(database: SqlDatabase): Job {
  return {
    name: 'limit-windows',
    intervalMs: forgetIntervalMs,
    async run({ fence, signal }) {
      let deleted = batchMax
      while (deleted === batchMax && !signal.aborted) {
        deleted = await database.transaction(async (tx) => {
          await fence(tx)
          // `skip locked` leaves a window that a claim is changing now to the next run.
          const rows = await tx.query(
            `delete from limit_window where ctid = any(array(
               select ctid from limit_window where ends_at < statement_timestamp() limit $1 for update skip locked
             )) returning 1`,
            [batchMax],
          )
          return rows.length
        })
      }
    },
  }
}
