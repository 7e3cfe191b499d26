import { bytes32Text } from '@causeway/core'
import { errorResponses, type HttpApp } from '@causeway/http'
import { z } from 'zod'
import type { Timelines } from '../../requests/timeline/readTimeline.ts'
import type { SignTimeline } from '../../requests/timeline/signTimeline.ts'
import { timelineAnswer, timelineSchema } from '../../requests/timeline/timelineAnswer.ts'
import { databaseErrors, mergeErrors } from '../routeErrors.ts'

/**
 * GET /requests/{id}/timeline: what became of a request, step by step, for callers who know its id. Needs no key; never
 * cached. It leaves out what only operators may see. With `signed=true` the evidence key signs the answer.
 */
export function registerTimeline(
  app: HttpApp,
  { timelines, signTimeline }: { timelines: Timelines; signTimeline: SignTimeline },
): void {
  const schema = {
    operationId: 'getTimeline',
    tags: ['status'],
    errors: mergeErrors(databaseErrors, {
      400: ['EVIDENCE_KEY_NOT_CONFIGURED'],
      404: ['REQUEST_NOT_FOUND'],
      503: ['SIGNER_FAILED'],
    }),
    summary: 'What became of a request, step by step',
    params: z.object({ requestId: bytes32Text.describe('`requestId` of the quote') }),
    querystring: z.object({
      signed: z
        .enum(['true', 'false'])
        .default('false')
        .describe('`true`: with a signature of the evidence key, which anybody can check later'),
    }),
    response: { 200: timelineSchema, ...errorResponses },
  }
  app.get(
    '/requests/:requestId/timeline',
    { schema, config: { rateLimitClass: 'read' } },
    async ({ params, query }, reply) => {
      reply.header('cache-control', 'no-store')
      const timeline = await timelines.read(params.requestId)
      return query.signed === 'true' ? signTimeline(timeline) : timelineAnswer(timeline)
    },
  )
}
