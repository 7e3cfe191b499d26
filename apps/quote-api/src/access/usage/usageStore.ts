import type { SqlDatabase, SqlTx } from '@causeway/core'
import type { UsageRow } from './usageCounts.ts'

/** Kinds of sums: length of their buckets, and how far back they are kept, in seconds. @source rule L-93 */
export const granularities = {
  minutely: { bucketSeconds: 60, reachSeconds: 86_400 },
  hourly: { bucketSeconds: 3_600, reachSeconds: 7 * 86_400 },
  daily: { bucketSeconds: 86_400, reachSeconds: 14 * 86_400 },
} as const satisfies Readonly<Record<string, { bucketSeconds: number; reachSeconds: number }>>

export type Granularity = keyof typeof granularities

const bucketValues = Object.entries(granularities)
  .map(([name, { bucketSeconds }]) => `('${name}', ${bucketSeconds}::bigint)`)
  .join(', ')

// `once` answers a row only if the batch is newer than the last one of its process: a batch sent twice adds nothing.
// Rows are locked in one order, so that two processes that write the same sums never deadlock. The integer
// division by `bucket.seconds` finds the start of the bucket that a minute lies in.
const writeSql = `
  with once as (
    insert into key_usage_writer as w (writer, sequence) values ($1, $2)
    on conflict (writer) do update set sequence = excluded.sequence, written_at = clock_timestamp()
      where w.sequence < excluded.sequence
    returning writer
  ), sums as (
    select bucket.granularity, c.api_key_id,
      to_timestamp(c.minute_seconds / bucket.seconds * bucket.seconds) as starts_at,
      c.endpoint, c.status_code, c.error_code, sum(c.answers)::bigint as answers
    from unnest($3::text[], $4::bigint[], $5::text[], $6::smallint[], $7::text[], $8::bigint[])
      as c (api_key_id, minute_seconds, endpoint, status_code, error_code, answers)
    cross join (values ${bucketValues}) as bucket (granularity, seconds)
    where exists (select from once)
    group by 1, 2, 3, 4, 5, 6
  )
  insert into key_usage as u (granularity, api_key_id, starts_at, endpoint, status_code, error_code, answers)
  select * from sums order by 1, 2, 3, 4, 5, 6
  on conflict (granularity, api_key_id, starts_at, endpoint, status_code, error_code)
  do update set answers = u.answers + excluded.answers`

/** Counts that one process stores at once; its batches are numbered upwards. */
export type UsageBatch = {
  /** UUID of the process. */
  readonly writer: string
  readonly sequence: number
  readonly rows: readonly UsageRow[]
}

/**
 * Adds a batch to the sums of each granularity, all or nothing; a batch that was written before changes nothing.
 * @throws UpstreamUnavailableError, whether it was written or not: send the same batch again
 */
export async function writeUsage(
  database: Pick<SqlDatabase, 'query'>,
  { writer, sequence, rows }: UsageBatch,
): Promise<void> {
  await database.query(writeSql, [
    writer,
    sequence,
    rows.map(({ apiKeyId }) => apiKeyId),
    rows.map(({ minuteSeconds }) => minuteSeconds),
    rows.map(({ endpoint }) => endpoint),
    rows.map(({ statusCode }) => statusCode),
    rows.map(({ errorCode }) => errorCode),
    rows.map(({ answers }) => answers),
  ])
}

/** Answers of one kind to one key, within the bucket that begins at `startsAt`. */
export type UsageSum = {
  readonly apiKeyId: string
  readonly startsAt: Date
  readonly endpoint: string
  readonly statusCode: number
  /** Empty where there is none. */
  readonly errorCode: string
  readonly answers: bigint
}

/** Sums of keys whose buckets begin within the window, both ends included, oldest first. */
export async function readSums(
  database: Pick<SqlDatabase, 'query'>,
  query: {
    readonly granularity: Granularity
    readonly apiKeyIds: readonly string[]
    /** Unix seconds. */
    readonly fromSeconds: number
    readonly toSeconds: number
    readonly limit: number
  },
): Promise<readonly UsageSum[]> {
  const { granularity, apiKeyIds, fromSeconds, toSeconds, limit } = query
  return database.query<UsageSum>(
    `select api_key_id as "apiKeyId", starts_at as "startsAt", endpoint, status_code as "statusCode",
       error_code as "errorCode", answers
     from key_usage
     where granularity = $1 and api_key_id = any($2) and starts_at between to_timestamp($3) and to_timestamp($4)
     order by starts_at, api_key_id, endpoint, status_code, error_code limit $5`,
    [granularity, apiKeyIds, fromSeconds, toSeconds, limit],
  )
}

/** Ids among these that are the key itself or a key linked to the same wallet. */
export async function readOwnKeyIds(
  database: Pick<SqlDatabase, 'query'>,
  apiKeyId: string,
  candidateIds: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await database.query<{ id: string }>(
    `select id from api_key
     where id = any($2) and (id = $1 or wallet = (select wallet from api_key where id = $1))`,
    [apiKeyId, candidateIds],
  )
  return new Set(rows.map(({ id }) => id))
}

/** Days after which a process's last batch number is deleted: by then the process cannot send that batch again. */
const writerDays = 30

/**
 * Deletes at most `limit` sums of each granularity whose bucket is older than is kept.
 * @returns true if none is left to delete
 */
export async function pruneUsage(tx: SqlTx, limit: number): Promise<boolean> {
  let isDone = true
  // A bucket goes once its end, `bucketSeconds` after its start, is out of reach.
  for (const [granularity, { bucketSeconds, reachSeconds }] of Object.entries(granularities)) {
    const deleted = await tx.query(
      `delete from key_usage where ctid = any(array(
         select ctid from key_usage
         where granularity = $1 and starts_at < statement_timestamp() - make_interval(secs => $2::int)
         limit $3
       )) returning 1`,
      [granularity, bucketSeconds + reachSeconds, limit],
    )
    if (deleted.length === limit) isDone = false
  }
  await tx.query(
    `delete from key_usage_writer where written_at < statement_timestamp() - $1::int * interval '1 day'`,
    [writerDays],
  )
  return isDone
}
