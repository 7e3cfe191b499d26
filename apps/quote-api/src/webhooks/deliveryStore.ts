import type { SqlDatabase, SqlTx } from '@causeway/core'
import { finishOutbox, takeOutbox } from '@causeway/ledger'
import { queuedMessageSchema, webhookTopic } from './announceStatus.ts'
import type { SealedSecrets } from './sealedSecrets.ts'

/** A message that may be sent now, with its endpoint and the endpoint's sealed secrets. */
export type DueDelivery = SealedSecrets & {
  readonly eventId: string
  readonly apiKeyId: string
  readonly url: string
  readonly body: string
  /** Attempts until now. */
  readonly attempts: number
}

/**
 * Moves messages from the outbox to the deliveries, in their order. Messages of a webhook that was removed are dropped.
 * @returns how many messages were taken
 */
export async function handOver(tx: SqlTx, limit: number): Promise<number> {
  const messages = await takeOutbox(tx, webhookTopic, limit)
  if (messages.length === 0) return 0
  const payloads = messages.map(({ payload }) => queuedMessageSchema.parse(payload))
  await tx.query(
    `insert into webhook_delivery (event_id, api_key_id, request_id, body)
     select m.event_id, m.api_key_id, decode(m.request_id, 'hex'), m.body
     from unnest($1::uuid[], $2::text[], $3::text[], $4::text[])
       with ordinality as m (event_id, api_key_id, request_id, body, place)
     join webhook_endpoint e on e.api_key_id = m.api_key_id
     order by m.place`,
    [
      payloads.map(({ eventId }) => eventId),
      payloads.map(({ apiKeyId }) => apiKeyId),
      payloads.map(({ requestId }) => requestId),
      payloads.map(({ body }) => body),
    ],
  )
  await finishOutbox(
    tx,
    messages.map(({ id }) => id),
  )
  return messages.length
}

/** True if a message waits, in the outbox or as a delivery that may be due later. */
export async function hasMessages(database: Pick<SqlDatabase, 'query'>): Promise<boolean> {
  const [row] = await database.query<{ waits: boolean }>(
    `select exists (select from outbox where topic = $1 and done_at is null)
       or exists (select from webhook_delivery where state = 'waiting') as waits`,
    [webhookTopic],
  )
  return row?.waits === true
}

/**
 * Deliveries that may be sent now, the first of every endpoint before the second of any. A request has only
 * its oldest unfinished message among them, so that its messages arrive in order.
 * @param query.underway event ids of messages that are being sent
 */
export async function listDue(
  database: Pick<SqlDatabase, 'query'>,
  query: { readonly perEndpoint: number; readonly limit: number; readonly underway: readonly string[] },
): Promise<readonly DueDelivery[]> {
  const rows = await database.query<DueRow>(
    `select d.event_id, e.api_key_id, e.url, e.sealed, e.pepper_id, d.body, d.attempts
     from webhook_endpoint e
     cross join lateral (
       select w.event_id, w.body, w.attempts, w.seq, row_number() over (order by w.next_at, w.seq) as place
       from webhook_delivery w
       where w.api_key_id = e.api_key_id and w.state = 'waiting' and w.next_at <= statement_timestamp()
         and w.event_id <> all($1::uuid[])
         and not exists (select 1 from webhook_delivery before
           where before.request_id = w.request_id and before.state = 'waiting' and before.seq < w.seq)
       order by w.next_at, w.seq limit $2
     ) d
     order by d.place, d.seq limit $3`,
    [query.underway, query.perEndpoint, query.limit],
  )
  return rows.map((row) => ({
    eventId: row.event_id,
    apiKeyId: row.api_key_id,
    url: row.url,
    sealed: row.sealed,
    pepperId: row.pepper_id,
    body: row.body,
    attempts: row.attempts,
  }))
}

/** Stores that a message was delivered. */
export async function finishDelivery(tx: SqlTx, eventId: string): Promise<void> {
  await tx.query(
    `update webhook_delivery set state = 'delivered', attempts = attempts + 1, problem = null,
       finished_at = clock_timestamp()
     where event_id = $1 and state = 'waiting'`,
    [eventId],
  )
}

/** Stores a failed attempt. @param failure.pauseMs until the next attempt; `undefined` gives the message up */
export async function failDelivery(
  tx: SqlTx,
  eventId: string,
  failure: { readonly problem: string; readonly pauseMs: number | undefined },
): Promise<void> {
  await tx.query(
    `update webhook_delivery set attempts = attempts + 1, problem = $2,
       state = case when $3::bigint is null then 'failed' else 'waiting' end,
       next_at = clock_timestamp() + coalesce($3::bigint, 0) * interval '1 millisecond',
       finished_at = case when $3::bigint is null then clock_timestamp() end
     where event_id = $1 and state = 'waiting'`,
    [eventId, failure.problem, failure.pauseMs ?? null],
  )
}

/** Number of waiting deliveries and the age of the oldest in seconds, for metrics. */
export async function readBacklog(
  database: Pick<SqlDatabase, 'query'>,
): Promise<{ readonly waiting: number; readonly oldestSeconds: number }> {
  const [row] = await database.query<{ waiting: bigint; oldest: bigint | null }>(
    `select count(*)::bigint as waiting,
       floor(extract(epoch from clock_timestamp() - min(created_at)))::bigint as oldest
     from webhook_delivery where state = 'waiting'`,
  )
  return { waiting: Number(row?.waiting ?? 0n), oldestSeconds: Number(row?.oldest ?? 0n) }
}

/** Deletes deliveries, and their messages in the outbox, that ended more than `keptDays` ago. */
export async function pruneDeliveries(tx: SqlTx, keptDays: number): Promise<void> {
  await tx.query(
    `delete from webhook_delivery
     where state <> 'waiting' and finished_at < statement_timestamp() - $1::int * interval '1 day'`,
    [keptDays],
  )
  await tx.query(
    `delete from outbox where topic = $1 and done_at < statement_timestamp() - $2::int * interval '1 day'`,
    [webhookTopic, keptDays],
  )
}

type DueRow = {
  readonly event_id: string
  readonly api_key_id: string
  readonly url: string
  readonly sealed: Buffer
  readonly pepper_id: string
  readonly body: string
  readonly attempts: number
}
