import { errorResponses, type HttpApp } from '@causeway/http'
import { z } from 'zod'
import { adminActor } from '../../access/adminActor.ts'
import { operatorReason } from '../../access/operatorReason.ts'
import type { RequestAdministration } from '../../operate/admin/requestAdministration.ts'
import { resolutions } from '../../requests/settlement/parked/parkedRules.ts'
import type { Timelines } from '../../requests/timeline/readTimeline.ts'
import { timelineAnswer, timelineSchema } from '../../requests/timeline/timelineAnswer.ts'
import { id32 } from '../wire/id32.ts'
import { adminOperation } from './adminOperation.ts'

const limitMax = 1_000
const params = z.object({ id: id32 })
const unknownRequest = { 404: ['REQUEST_NOT_FOUND'] }
/** Rows of a table as they are. */
const storedRows = z.array(z.record(z.string(), z.unknown()))

const standingSchema = z.object({
  requestId: z.string().optional().describe('Absent for claims, and for transactions that cannot be read'),
  subject: z.string().optional().describe('Then the claim or the transaction'),
  reason: z.string(),
  meaning: z.string(),
  endsBy: z.string(),
  needsOperator: z.boolean().describe('Nothing about it moves by itself any more'),
  account: z.string().optional(),
  tries: z.int(),
  report: z.string().optional().describe("The solver's last one"),
  transaction: z.string().optional(),
  status: z.string().optional(),
  originChainId: z.int().optional(),
  destinationChainId: z.int().optional(),
  debitMicroUsd: z.string(),
  since: z.iso.datetime(),
})

const foundSchema = z.object({
  requestId: z.string(),
  by: z.enum(['request', 'order', 'transaction']).describe('As what it was named'),
  status: z.string(),
  originChainId: z.int(),
  destinationChainId: z.int(),
  createdAt: z.iso.datetime(),
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
      endsBy: z.string(),
      retryStage: z.string().optional(),
      resolutions: z.array(z.enum(resolutions)),
    })
    .optional(),
  deposits: storedRows,
  work: storedRows,
  holds: storedRows,
  actions: storedRows.describe('What operators did about it'),
  recovery: storedRows.describe('What its promise waits for, and from when on the deposits are recovered'),
})

const list = {
  ...adminOperation('requests parked', 'List what makes no progress, longest first'),
  querystring: z.object({ limit: z.coerce.number().int().min(1).max(limitMax).default(limitMax) }),
  response: { 200: z.object({ requests: z.array(standingSchema) }), ...errorResponses },
}

const find = {
  ...adminOperation(
    'requests find',
    'Find requests by a request id, an order id or the hash of a transaction',
    unknownRequest,
  ),
  querystring: z.object({ named: z.string().min(1).max(128).describe('Hex in either case') }),
  response: { 200: z.object({ requests: z.array(foundSchema) }), ...errorResponses },
}

const explain = {
  ...adminOperation(
    'requests explain',
    'Show all that is known about a request and what can be done; changes nothing',
    unknownRequest,
  ),
  params,
  response: { 200: explanationSchema, ...errorResponses },
}

const timeline = {
  ...adminOperation('why', 'Tell what became of a request, step by step; changes nothing', unknownRequest),
  params,
  response: { 200: timelineSchema, ...errorResponses },
}

const retry = {
  ...adminOperation('requests retry', 'Let the usual rules look at a parked request again', {
    ...unknownRequest,
    409: ['ORDER_RECOVERED', 'REQUEST_NOT_PARKED'],
  }),
  params,
  body: z.object({ reason: operatorReason }),
  response: { 200: z.object({ requestId: z.string(), stage: z.string() }), ...errorResponses },
}

const resolve = {
  ...adminOperation(
    'requests resolve',
    'End a parked request: unpaid (filled, the sponsor keeps its money), refund (not filled), release (not denied), or recover (on the hub, by its depositor)',
    { ...unknownRequest, 409: ['ORDER_RECOVERED', 'REQUEST_NOT_PARKED', 'RESOLUTION_NOT_POSSIBLE'] },
  ),
  params,
  body: z.object({ resolution: z.enum(resolutions), reason: operatorReason }),
  response: { 200: z.object({ requestId: z.string(), resolution: z.string() }), ...errorResponses },
}

/** `/admin/requests`: finds and explains requests, and lets an operator decide about those that make no progress. */
export function registerRequestRoutes(
  app: HttpApp,
  requests: RequestAdministration,
  timelines: Timelines,
): void {
  app.get('/admin/requests/parked', { schema: list }, async ({ query }) => ({
    // `parse` leaves out members that are not shown, such as `listedAt`.
    requests: (await requests.parked(query)).map(({ debitMicroUsd, since, ...request }) =>
      standingSchema.parse({
        ...request,
        debitMicroUsd: debitMicroUsd.toString(),
        since: since.toISOString(),
      }),
    ),
  }))
  app.get('/admin/requests', { schema: find }, async ({ query: { named: identifier } }) => ({
    requests: (await requests.find(identifier)).map(({ createdAt, ...match }) => ({
      ...match,
      createdAt: createdAt.toISOString(),
    })),
  }))
  app.get('/admin/requests/:id', { schema: explain }, async ({ params: { id } }) =>
    explanationSchema.parse(await requests.explain(id)),
  )
  app.get('/admin/requests/:id/timeline', { schema: timeline }, async ({ params: { id } }) =>
    timelineAnswer(await timelines.read(id)),
  )
  app.post('/admin/requests/:id/retry', { schema: retry }, async ({ params: { id }, body }) => {
    return { requestId: id, stage: await requests.retry(id, { actor: adminActor, ...body }) }
  })
  app.post('/admin/requests/:id/resolve', { schema: resolve }, async ({ params: { id }, body }) => {
    const { resolution, reason } = body
    await requests.resolve(id, resolution, { actor: adminActor, reason })
    return { requestId: id, resolution }
  })
}
