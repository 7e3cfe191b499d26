import { randomUUID } from 'node:crypto'
import type { SqlDatabase } from '@causeway/core'

/**
 * Stores copies of a real quote by deposit address under ids and addresses of their own, as they lie in the
 * tables when nobody pays them: some of this minute, the others of the month before.
 */
export async function storeUnpaidQuotes(
  database: SqlDatabase,
  copied: { readonly requestId: string; readonly ofNow: number; readonly ofMonth: number },
): Promise<void> {
  const count = copied.ofNow + copied.ofMonth
  const flood = randomUUID()
  const bytes = Buffer.from(copied.requestId.slice(2), 'hex')
  const idOf = (what: string) => `sha256(convert_to($2 || '${what}' || i, 'UTF8'))`
  const secondsAgo = `case when i <= $4 then 0 else 3600 + (i - $4) * (30 * 86400.0 - 3600) / greatest($3 - $4, 1) end`
  await database.query(
    `insert into orders (request_id, order_id, user_address, recipient, origin_chain_id, destination_chain_id,
       quoted, order_data, order_signature, steps_digest, deposit_address, created_at, expires_at, deadline,
       keep_until)
     select ${idOf('request')}, ${idOf('order')}, user_address, recipient, origin_chain_id,
       destination_chain_id, quoted, order_data, order_signature, steps_digest,
       '0x' || encode(substr(${idOf('address')}, 1, 20), 'hex'),
       created_at - age, expires_at - age, deadline - age, keep_until
     from (select * from orders where request_id = $1) o, generate_series(1, $3::int) i,
       lateral (select (${secondsAgo}) * interval '1 second' as age) a`,
    [bytes, flood, count, copied.ofNow],
  )
  await database.query(
    `insert into deposit_address (address, chain_id, order_signer, sweeper, depositor, nonce, request_id, asked,
       lane, created_at, active_at, look_at)
     select '0x' || encode(substr(${idOf('address')}, 1, 20), 'hex'), chain_id, order_signer, sweeper, depositor,
       nonce, ${idOf('request')}, asked, case when i <= $4 then 3 else 4 end, clock_timestamp() - age,
       clock_timestamp() - age,
       case when i <= $4 then clock_timestamp() else clock_timestamp() + (i % 900) * interval '1 second' end
     from (select * from deposit_address where request_id = $1) d, generate_series(1, $3::int) i,
       lateral (select (${secondsAgo}) * interval '1 second' as age) a`,
    [bytes, flood, count, copied.ofNow],
  )
  await database.query('analyze orders, deposit_address')
  // Else what was read for this is counted seconds later, among what jobs read.
  await database.query('select pg_stat_force_next_flush()')
}

/** Rows and index entries that the server has read for all its clients. */
export async function rowsRead(database: Pick<SqlDatabase, 'query'>): Promise<number> {
  const [row] = await database.query<{ rows: bigint }>(
    `select ((select coalesce(sum(seq_tup_read), 0) from pg_stat_user_tables)
       + (select coalesce(sum(idx_tup_read), 0) from pg_stat_user_indexes))::bigint as rows`,
  )
  return Number(row?.rows ?? 0n)
}

/** Runs of background jobs so far, by job, as the operations listener tells. */
export async function jobRuns(opsUrl: string): Promise<ReadonlyMap<string, number>> {
  const text = await (await fetch(`${opsUrl}/metrics`)).text()
  const lines = text.matchAll(/^job_runs_total\{[^}]*name="([^"]+)"[^}]*\} (\d+)$/gm)
  return new Map([...lines].map(([, job = '', runs]) => [job, Number(runs)]))
}
