import type { SqlDatabase, SqlTx } from '@causeway/core'
import { idBytes } from '../orders/orderColumns.ts'

/** After how many days quotes and requests are deleted; undefined: never. */
export type RetentionSettings = {
  /** Minimum age of quotes without a deposit, in days since they were made. */
  readonly quotesDays: number | undefined
  /** Minimum age of ended requests, in days since their last change. */
  readonly requestsDays: number | undefined
}

/** `quote`: nothing was ever deposited for it; `request`: it was paid for and has ended. */
export type Removable = 'quote' | 'request'

/** SQL over `orders o`: true for a quote without a deposit or any other event. */
const isQuote = `(o.status = 'waiting'
  and not exists (select from settlement s where s.request_id = o.request_id)
  and not exists (select from deposit_seen d where d.request_id = o.request_id)
  and not exists (select from request_transaction t where t.request_id = o.request_id))`

/** SQL over `orders o`. The parameters $1 and $2 are `quotesDays` and `requestsDays`. */
const rowKind = `case when ${isQuote} then 'quote' else 'request' end`
const ageStart = `case when ${isQuote} then o.created_at else coalesce(o.updated_at, o.created_at) end`
const cutoff = `(statement_timestamp() - interval '1 day' * case when ${isQuote} then $1::int else $2::int end)`
const isOld = `(${ageStart} < ${cutoff})`

/**
 * SQL over `orders o`: true while a request must be kept: until its `keep_until`, well after the deadline of
 * its order, and while any part of its settlement is under way, money or a webhook is due, or its deposit
 * address was used or an operator acted on it since the cutoff.
 */
const isOpen = `(o.keep_until >= statement_timestamp()
  or exists (select from settlement s where s.request_id = o.request_id and s.stage not in ('settled', 'refunded'))
  or exists (select from deposit_seen d where d.request_id = o.request_id and d.state in ('seen', 'refund_due', 'held'))
  or exists (select from work_item w where w.request_id = o.request_id and w.state in ('open', 'reported'))
  or exists (select from hold h where h.request_id = o.request_id and h.state = 'reserved')
  or exists (select from said_transaction t where t.request_id = o.request_id and t.state = 'said')
  or exists (select from webhook_delivery m where m.request_id = o.request_id and m.state = 'waiting')
  or exists (select from deposit_address a where a.request_id = o.request_id
    and (a.sweep_id is not null or a.left_reason is not null or a.active_at >= ${cutoff}))
  or exists (select from admin_action a where a.subject = '0x' || encode(o.request_id, 'hex') and a.done_at >= ${cutoff}))`

/** Null where nothing is removed: every comparison with it is null, so that nothing is due, and `least` passes it over. */
const ages = ({ quotesDays, requestsDays }: RetentionSettings) => [quotesDays ?? null, requestsDays ?? null]

/** SQL of the highest id that can be old enough, because request ids begin with the milliseconds of their quote. */
const newestOldId = `decode(rpad(lpad(to_hex((extract(epoch from statement_timestamp()
  - interval '1 day' * least($1::int, $2::int)) * 1000)::bigint), 12, '0'), ${2 * idBytes}, 'f'), 'hex')`

/** Smallest id, at which a walk over all requests begins. */
export const firstId = Buffer.alloc(idBytes)

/** Numbers of rows that one step of the walk removed, and the last id that it read; undefined at the end of the walk. */
export type RemovedPage = {
  readonly quotes: number
  readonly requests: number
  readonly last: Buffer | undefined
}

/**
 * One step of the job that deletes old requests: checks up to `limit` requests with ids above `after`, and deletes those that
 * are old enough and not open, with all their rows but the ledger's. Requests that another transaction has locked are left
 * for the next walk.
 */
export async function removePage(
  tx: SqlTx,
  settings: RetentionSettings,
  { after, limit }: { readonly after: Buffer; readonly limit: number },
): Promise<RemovedPage> {
  const page = await tx.query<{ request_id: Buffer; is_due: boolean }>(
    `select o.request_id, ${isOld} and not ${isOpen} as is_due from orders o
     where o.request_id > $3 and o.request_id <= ${newestOldId} order by o.request_id limit $4`,
    [...ages(settings), after, limit],
  )
  const due = page.flatMap(({ request_id, is_due }) => (is_due ? [request_id] : []))
  const last = page.at(-1)?.request_id
  if (due.length === 0) return { quotes: 0, requests: 0, last }
  const locked = await tx.query<{ request_id: Buffer }>(
    'select request_id from orders where request_id = any($1) for update skip locked',
    [due],
  )
  // A deposit may have come before the lock. Only a new statement sees it, so all conditions are checked again.
  const removable = await tx.query<{ request_id: Buffer; what: Removable }>(
    `select o.request_id, ${rowKind} as what from orders o
     where o.request_id = any($3) and ${isOld} and not ${isOpen}`,
    [...ages(settings), locked.map(({ request_id }) => request_id)],
  )
  const ids = removable.map(({ request_id }) => request_id)
  // Settlements refer to deposits of their own request, so they go first. Other rows go with their order, by
  // cascade.
  await tx.query('delete from settlement where request_id = any($1)', [ids])
  await tx.query('delete from orders where request_id = any($1)', [ids])
  const quotes = removable.filter((one) => one.what === 'quote').length
  return { quotes, requests: removable.length - quotes, last }
}

/** By kind: the number of rows that a run would delete now, and of those old enough but still open. */
export type RetentionPreview = readonly {
  readonly what: Removable
  readonly removable: number
  readonly open: number
  /** Start of the oldest row that would be deleted. */
  readonly oldest: Date | undefined
}[]

/** Counts what a run would delete, for operators who change the settings. */
export async function previewRetention(
  database: Pick<SqlDatabase, 'query'>,
  settings: RetentionSettings,
): Promise<RetentionPreview> {
  const rows = await database.query<{
    what: Removable
    removable: bigint
    open: bigint
    oldest: Date | null
  }>(
    `select what, count(*) filter (where not is_open)::bigint as removable,
       count(*) filter (where is_open)::bigint as open, min(created_at) filter (where not is_open) as oldest
     from (select ${rowKind} as what, o.created_at, ${isOpen} as is_open from orders o
       where o.request_id <= ${newestOldId} and ${isOld}) aged
     group by what order by what`,
    ages(settings),
  )
  return rows.map((row) => ({
    what: row.what,
    removable: Number(row.removable),
    open: Number(row.open),
    oldest: row.oldest ?? undefined,
  }))
}
