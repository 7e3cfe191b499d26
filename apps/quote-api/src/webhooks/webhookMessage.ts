import { createHmac } from 'node:crypto'
import type { Hex } from '@causeway/core'
import { z } from 'zod'
import type { StatusRecord } from '../requests/status/requestStatus.ts'
import { statusToV3, statusV3Schema } from '../requests/status/statusWire.ts'

/** The one event there is so far, as the websocket names it. @source rule L-81 */
const statusEvent = 'request.status.updated'

/** Body of a message. @source rule L-81 */
export const webhookBodySchema = z.object({
  id: z.uuid().describe('The event: the same in every delivery of it'),
  event: z.literal(statusEvent),
  timestamp: z.int().describe('When it happened, in milliseconds since the epoch'),
  data: statusV3Schema.omit({ quoteCreatedAt: true, quoteExpiresAt: true }).extend({
    requestId: z.string(),
    depositAddress: z.string().nullable(),
    referrer: z.string().nullable().describe('As the quote was asked with it'),
  }),
})

/** Body of the message about a request whose status changed. */
export function webhookBody(change: {
  readonly eventId: string
  readonly requestId: Hex
  readonly record: StatusRecord
  readonly depositAddress: string | undefined
  readonly referrer: string | null
}): z.output<typeof webhookBodySchema> {
  const { quoteCreatedAt: _created, quoteExpiresAt: _expires, ...status } = statusToV3(change.record)
  return {
    id: change.eventId,
    event: statusEvent,
    timestamp: change.record.updatedAtMs,
    data: {
      ...status,
      requestId: change.requestId,
      depositAddress: change.depositAddress ?? null,
      referrer: change.referrer,
    },
  }
}

/**
 * Hex HMAC-SHA256 over `timestamp + "." + body`, keyed with the secret's own text.
 * @param timestamp as it stands in `x-signature-timestamp`
 * @source rule L-81
 */
export function webhookSignature(secret: string, timestamp: string, body: string): string {
  return createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')
}
