import { errorResponses, type HttpApp } from '@causeway/http'
import { z } from 'zod'
import type { RequestStatuses } from '../../requests/status/requestStatus.ts'
import {
  statusToV1,
  statusToV2,
  statusToV3,
  statusV1Schema,
  statusV2Schema,
  statusV3Schema,
} from '../../requests/status/statusWire.ts'
import { databaseErrors, mergeErrors } from '../routeErrors.ts'

/**
 * A request id, or the hash of a transaction as some family spells it: 64 or 80 hex digits, or Base58. The
 * message names only the form of a request id, which callers are meant to send.
 */
const namedText = z
  .string()
  .regex(/^(0x[0-9a-fA-F]{64}|[0-9a-fA-F]{64}|[0-9a-fA-F]{80}|[1-9A-HJ-NP-Za-km-z]{64,88})$/, {
    error: 'must be 0x and 64 hex digits',
  })

/**
 * GET /intents/status, /v2 and /v3: the status of a request, in three forms. Needs no key; never cached.
 * @source rules O-50, O-51, Q-105, Q-106
 */
export function registerIntentStatus(app: HttpApp, { statuses }: { statuses: RequestStatuses }): void {
  const optionsOf = <Answer>(
    operationId: string,
    answer: z.ZodType<Answer>,
    { isDeprecated }: { readonly isDeprecated: boolean },
  ) => ({
    config: { rateLimitClass: 'status' },
    schema: {
      operationId,
      tags: ['status'],
      errors: mergeErrors(databaseErrors, { 404: ['REQUEST_NOT_FOUND'] }),
      summary: 'State of a request',
      deprecated: isDeprecated,
      querystring: z.object({ requestId: namedText.describe('`requestId` of the quote') }),
      response: { 200: answer, ...errorResponses },
    },
  })
  const [older, newest] = [{ isDeprecated: true }, { isDeprecated: false }]
  app.get('/intents/status', optionsOf('getStatus', statusV1Schema, older), async ({ query }, reply) => {
    reply.header('cache-control', 'no-store')
    return statusToV1(await statuses.read(query.requestId))
  })
  app.get('/intents/status/v2', optionsOf('getStatusV2', statusV2Schema, older), async ({ query }, reply) => {
    reply.header('cache-control', 'no-store')
    return statusToV2(await statuses.read(query.requestId))
  })
  app.get(
    '/intents/status/v3',
    optionsOf('getStatusV3', statusV3Schema, newest),
    async ({ query }, reply) => {
      reply.header('cache-control', 'no-store')
      return statusToV3(await statuses.read(query.requestId))
    },
  )
}
