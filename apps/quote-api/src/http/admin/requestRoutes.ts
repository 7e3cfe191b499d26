import { errorResponses, type HttpApp } from '@causeway/http'
import { z } from 'zod'
import { adminActor } from '../../access/adminActor.ts'
import { operatorReason } from '../../access/operatorReason.ts'
import type { RequestAdministration } from '../../operate/admin/requestAdministration.ts'
import { resolutions } from '../../requests/settlement/parked/parkedRules.ts'
import { id32 } from '../wire/id32.ts'

const limitMax = 1_000
const params = z.object({ id: id32 })
const stored = z.array(z.record(z.string(), z.unknown()))

const parkedSchema = z.object({
  requestId: z.string(),
  reason: z.string(),
  status: z.string(),
  originChainId: z.int(),
  destinationChainId: z.int(),
  debitMicroUsd: z.string(),
  parkedAt: z.iso.datetime(),
})

const explanationSchema = z.object({
  requestId: z.string(),
  orderId: z.string(),
  status: z.string(),
  failReason: z.string().optional(),
  stage: z.string().optional(),
  parked: z
    .object({
      reason: z.string(),
      meaning: z.string(),
      retryStage: z.string(),
      resolutions: z.array(z.enum(resolutions)),
    })
    .optional(),
  deposits: stored,
  work: stored,
  holds: stored,
  actions: stored.describe('What operators did about it'),
})

/** `/admin/requests`: requests that wait for an operator. */
export function registerRequestRoutes(app: HttpApp, requests: RequestAdministration): void {
  const list = {
    querystring: z.object({ limit: z.coerce.number().int().min(1).max(limitMax).default(limitMax) }),
    response: { 200: z.object({ requests: z.array(parkedSchema) }), ...errorResponses },
  }
  app.get('/admin/requests/parked', { schema: list }, async ({ query }) => ({
    requests: (await requests.parked(query)).map((request) => ({
      ...request,
      debitMicroUsd: request.debitMicroUsd.toString(),
      parkedAt: request.parkedAt.toISOString(),
    })),
  }))

  const explain = { params, response: { 200: explanationSchema, ...errorResponses } }
  app.get('/admin/requests/:id', { schema: explain }, async ({ params: { id } }) =>
    explanationSchema.parse(await requests.explain(id)),
  )

  const retry = {
    params,
    body: z.object({ reason: operatorReason }),
    response: { 200: z.object({ requestId: z.string(), stage: z.string() }), ...errorResponses },
  }
  app.post('/admin/requests/:id/retry', { schema: retry }, async ({ params: { id }, body }) => {
    return { requestId: id, stage: await requests.retry(id, { actor: adminActor, ...body }) }
  })

  const resolve = {
    params,
    body: z.object({ resolution: z.enum(resolutions), reason: operatorReason }),
    response: { 200: z.object({ requestId: z.string(), resolution: z.string() }), ...errorResponses },
  }
  app.post('/admin/requests/:id/resolve', { schema: resolve }, async ({ params: { id }, body }) => {
    const { resolution, reason } = body
    await requests.resolve(id, resolution, { actor: adminActor, reason })
    return { requestId: id, resolution }
  })
}
