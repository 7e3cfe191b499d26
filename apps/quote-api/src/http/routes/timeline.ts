import { bytes32Text } from '@causeway/core'
import { errorResponses, type HttpApp } from '@causeway/http'
import { z } from 'zod'
import type { Timelines } from '../../requests/timeline/readTimeline.ts'
import { timelineAnswer, timelineSchema } from '../../requests/timeline/timelineAnswer.ts'
import { databaseErrors, mergeErrors } from '../routeErrors.ts'

/**
 * GET /requests/{id}/timeline: what became of a request, step by step, for whoever knows its id. Needs no key; never
 * cached. What only operators may see is not among it.
 */
export function registerTimeline(app: HttpApp, { timelines }: { timelines: Timelines }): void {
  const schema = {
    operationId: 'getTimeline',
    tags: ['status'],
    errors: mergeErrors(databaseErrors, { 404: ['REQUEST_NOT_FOUND'] }),
    summary: 'What became of a request, step by step',
    params: z.object({ requestId: bytes32Text.describe('`requestId` of the quote') }),
    response: { 200: timelineSchema, ...errorResponses },
  }
  app.get(
    '/requests/:requestId/timeline',
    { schema, config: { rateLimitClass: 'read' } },
    async ({ params }, reply) => {
      reply.header('cache-control', 'no-store')
      return timelineAnswer(await timelines.read(params.requestId))
    },
  )
}
