import { randomUUID } from 'node:crypto'
import { enqueue } from '@causeway/ledger'
import { z } from 'zod'
import { toBytes } from '../requests/orders/orderColumns.ts'
import type { Announce } from '../requests/status/requestProgress.ts'
import { createRequestStatuses } from '../requests/status/requestStatus.ts'
import { webhookBody } from './webhookMessage.ts'

/** Topic of webhook messages in the outbox. */
export const webhookTopic = 'webhook'

/** PostgreSQL channel on which ids of changed requests are announced. */
export const statusChannel = 'request_status'

/** A webhook message in the outbox. */
export const queuedMessageSchema = z.object({
  eventId: z.uuid(),
  apiKeyId: z.string(),
  requestId: z.string().regex(/^[0-9a-f]{64}$/),
  /** Text, because `jsonb` would not keep the bytes that are signed. */
  body: z.string(),
})

/**
 * Called in each transaction that changes a request's status. It notifies followers of the request, and of requests that
 * it superseded, which show its status. It queues a message if the request's API key has a webhook.
 */
export const announceStatus: Announce = async (tx, requestId) => {
  await tx.query(
    `with recursive shown (id) as (
       select $1::bytea union select o.request_id from orders o join shown on o.superseded_by = shown.id
     )
     select pg_notify('${statusChannel}', '0x' || encode(id, 'hex')) from shown`,
    [toBytes(requestId)],
  )
  const [row] = await tx.query<{
    api_key_id: string
    deposit_address: string | null
    referrer: string | null
  }>(
    `select e.api_key_id, o.deposit_address, o.quoted ->> 'referrer' as referrer
     from orders o
     join webhook_endpoint e on e.api_key_id = o.api_key_id
     join api_key k on k.id = e.api_key_id and k.revoked_at is null
     where o.request_id = $1`,
    [toBytes(requestId)],
  )
  if (row === undefined) return
  const record = await createRequestStatuses({ database: tx }).read(requestId)
  const eventId = randomUUID()
  const depositAddress = row.deposit_address ?? undefined
  const message: z.output<typeof queuedMessageSchema> = {
    eventId,
    apiKeyId: row.api_key_id,
    requestId: requestId.slice(2),
    body: JSON.stringify(webhookBody({ eventId, requestId, record, depositAddress, referrer: row.referrer })),
  }
  await enqueue(tx, webhookTopic, message)
}
