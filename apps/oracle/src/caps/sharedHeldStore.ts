import { ConfigurationError, isHex32, type SqlDatabase } from '@causeway/core'
import type { AuditedChange, HeldRecord, HeldStore } from '@causeway/signer'

type HeldRow = Omit<HeldRecord, 'since'> & { readonly id: string; readonly since: Date }

/** Most held executions that are stored; logs and metrics show further ones. */
const keptMax = 1_000
/** Most releases that the audit lists. */
const auditedMax = 200

/**
 * The `HeldStore` of all processes of one oracle, in PostgreSQL.
 * @param actor operator who is recorded with a release
 */
export function createSharedHeldStore(database: SqlDatabase, actor: string): HeldStore {
  return {
    async keep(id, { kind, key, lets, reason, since }) {
      await database.query(
        `insert into held_execution (id, kind, key, lets, reason, since)
         select $1, $2, $3, $4, $5, $6 where (select count(*) from held_execution where done_at is null) < $7
         on conflict do nothing`,
        [id, kind, key, [...lets], reason, since, keptMax],
      )
    },
    async isReleased(id) {
      const rows = await database.query(
        'select from held_execution where id = $1 and done_at is null and released_at is not null',
        [id],
      )
      return rows.length > 0
    },
    async forget(id) {
      await database.query(
        'update held_execution set done_at = clock_timestamp() where id = $1 and done_at is null',
        [id],
      )
    },
    async list() {
      const rows = await database.query<HeldRow>(
        'select id, kind, key, lets, reason, since from held_execution where done_at is null order by n',
      )
      return new Map(rows.map(({ id, since, ...row }) => [id, { ...row, since: since.toISOString() }]))
    },
    // An execution that is not held yet may be released: its row then has no kind. A second release changes
    // nothing: time and operator of the first one stay.
    async release(id) {
      if (!isHex32(id))
        throw new ConfigurationError('An id is 0x and 64 hex digits, as `held list` and the log show it.')
      const [row] = await database.query<{ kind: string }>(
        `insert into held_execution as held (id, kind, key, lets, reason, released_at, released_by)
         values ($1, '', '', '{}', '', clock_timestamp(), $2)
         on conflict (id) where done_at is null do update set
           released_at = coalesce(held.released_at, excluded.released_at),
           released_by = coalesce(held.released_by, excluded.released_by)
         returning kind`,
        [id, actor],
      )
      return row?.kind !== ''
    },
  }
}

/** Releases as audit entries, each with its operator, newest first. */
export async function releasesIn(database: SqlDatabase): Promise<readonly AuditedChange[]> {
  const rows = await database.query<{ id: string; at: Date; actor: string }>(
    `select id, released_at as at, released_by as actor from held_execution
     where released_at is not null order by released_at desc limit $1`,
    [auditedMax],
  )
  return rows.map(({ id, at, actor }) => ({
    at: at.toISOString(),
    actor,
    action: 'held.release',
    subject: id,
    outcome: 'done',
  }))
}
