import type { SqlDatabase, SqlTx } from '@causeway/core'
import type { PutAside, PutAsideReason, ReadingPurpose } from '@causeway/families'

/** A transaction that could not be read and is retried apart from all others. Table `put_aside`. */
export type StoredPutAside = PutAside & {
  readonly chainId: number
  /** True if its pause is over, so that it may be tried again. */
  readonly isDue: boolean
}

type Key = Pick<StoredPutAside, 'chainId' | 'transactionId' | 'purpose'>
type Queries = Pick<SqlDatabase, 'query'>

/**
 * SQL of the next try. `tries` begins with 1, and the pause doubles with each further try: from a minute to
 * six hours, or from ten seconds to ten minutes if endpoints only failed to answer. For an unanswered
 * payment, for which a request waits, from half a second to half a minute.
 */
const dueAt = `last_tried_at + case
  when reason <> 'unanswered' then least(interval '1 minute' * power(2, least(tries, 10) - 1), interval '6 hours')
  when purpose = 'payment' then least(interval '0.5 seconds' * power(2, least(tries, 10) - 1), interval '30 seconds')
  else least(interval '10 seconds' * power(2, least(tries, 10) - 1), interval '10 minutes') end`

const columns = `chain_id, transaction_id, purpose, reason, tries, ${dueAt} <= statement_timestamp() as is_due,
  floor(extract(epoch from first_seen_at))::bigint as first_seen_seconds,
  floor(extract(epoch from last_tried_at))::bigint as last_tried_seconds`

/** Puts transactions aside; for one that is there already it counts another try. */
export async function putAside(
  tx: SqlTx,
  entries: readonly (Key & Pick<PutAside, 'reason'>)[],
): Promise<void> {
  for (const { chainId, transactionId, purpose, reason } of entries) {
    await tx.query(
      `insert into put_aside (chain_id, transaction_id, purpose, reason) values ($1, $2, $3, $4)
       on conflict (chain_id, transaction_id, purpose) do update
         set reason = excluded.reason, last_tried_at = clock_timestamp(), tries = put_aside.tries + 1`,
      [chainId, transactionId, purpose, reason],
    )
  }
}

/** Transactions to be tried again for one purpose on some chains, the longest due first. */
export async function listDuePutAside(
  database: Queries,
  chainIds: readonly number[],
  { purpose, limit }: { readonly purpose: ReadingPurpose; readonly limit: number },
): Promise<readonly StoredPutAside[]> {
  const rows = await database.query<Row>(
    `select ${columns} from put_aside where chain_id = any($1) and purpose = $2 and ${dueAt} <= statement_timestamp()
     order by ${dueAt} limit $3`,
    [chainIds, purpose, limit],
  )
  return rows.map(fromRow)
}

/** All transactions that are put aside, the oldest first. */
export async function listPutAside(database: Queries): Promise<readonly StoredPutAside[]> {
  const rows = await database.query<Row>(`select ${columns} from put_aside order by first_seen_at`)
  return rows.map(fromRow)
}

/** Ids of all transactions of a chain that were put aside for a purpose. */
export async function listAsideIds(
  tx: SqlTx,
  { chainId, purpose }: Pick<Key, 'chainId' | 'purpose'>,
): Promise<ReadonlySet<string>> {
  const rows = await tx.query<{ transaction_id: string }>(
    'select transaction_id from put_aside where chain_id = $1 and purpose = $2',
    [chainId, purpose],
  )
  return new Set(rows.map(({ transaction_id: id }) => id))
}

export type PutAsideCount = { readonly count: number; readonly oldestSeconds: number }

/** Counts by chain, and the age of the oldest one that a retry may read; too large ones need another release. */
export async function countPutAside(database: Queries): Promise<ReadonlyMap<number, PutAsideCount>> {
  const rows = await database.query<{ chain_id: bigint; count: bigint; oldest: bigint | null }>(
    `select chain_id, count(*) as count, floor(extract(epoch from
       clock_timestamp() - min(first_seen_at) filter (where reason <> 'too_large')))::bigint as oldest
     from put_aside group by chain_id`,
  )
  return new Map(
    rows.map(({ chain_id, count, oldest }) => [
      Number(chain_id),
      { count: Number(count), oldestSeconds: Number(oldest ?? 0n) },
    ]),
  )
}

/**
 * Notes a failed try, after which the pause grows.
 * @param reason undefined if the chain did not answer; then only the pause of an `unanswered` one grows
 */
export async function noteTry(tx: SqlTx, key: Key, reason: PutAsideReason | undefined): Promise<void> {
  await tx.query(
    `update put_aside set last_tried_at = clock_timestamp(), reason = coalesce($4, reason),
       tries = tries + case when $4::text is null and reason <> 'unanswered' then 0 else 1 end
     where chain_id = $1 and transaction_id = $2 and purpose = $3`,
    [key.chainId, key.transactionId, key.purpose, reason ?? null],
  )
}

/** Deletes payments that no job has tried to read for a day, because their requests have ended. */
export async function forgetUnfollowed(tx: SqlTx): Promise<void> {
  await tx.query(
    `delete from put_aside where purpose = 'payment' and last_tried_at < statement_timestamp() - interval '1 day'`,
  )
}

/** Removes a transaction that was read. */
export async function takeFromAside(tx: SqlTx, key: Key): Promise<void> {
  await tx.query('delete from put_aside where chain_id = $1 and transaction_id = $2 and purpose = $3', [
    key.chainId,
    key.transactionId,
    key.purpose,
  ])
}

type Row = {
  readonly chain_id: bigint
  readonly transaction_id: string
  readonly purpose: ReadingPurpose
  readonly reason: PutAsideReason
  readonly tries: bigint
  readonly is_due: boolean
  readonly first_seen_seconds: bigint
  readonly last_tried_seconds: bigint
}

function fromRow(row: Row): StoredPutAside {
  return {
    chainId: Number(row.chain_id),
    transactionId: row.transaction_id,
    purpose: row.purpose,
    reason: row.reason,
    firstSeenSeconds: Number(row.first_seen_seconds),
    lastTriedSeconds: Number(row.last_tried_seconds),
    tries: Number(row.tries),
    isDue: row.is_due,
  }
}
