import { bytes32Text, type Hex } from '@causeway/core'
import { type ApiKeyRecord, errorResponses, type HttpApp, holdRequest, unauthorized } from '@causeway/http'
import { z } from 'zod'
import { exposureText, parseExposure } from '../../requests/work/solverExposure.ts'
import { solverScope } from '../../requests/work/solverKey.ts'
import type { SolverWork } from '../../requests/work/solverWork.ts'
import { openWorkItemSchema, type WorkItem } from '../../requests/work/workItem.ts'
import { knownLengthMax, knownOf, knownPattern, type WorkOffers } from '../../requests/work/workOffers.ts'
import { databaseErrors, mergeErrors } from '../routeErrors.ts'
import { readTermsQuery, termsQuery } from '../wire/solverTerms.ts'

const itemsMax = 200
/** Shorter than proxies wait for an answer. */
const waitMaxMs = 25_000
const reasonLengthMax = 500
const messageAnswer = z.object({ message: z.string() })
const reportErrors = { 400: ['INVALID_TRANSACTION_ID'] }
const itemErrors = mergeErrors(databaseErrors, {
  404: ['WORK_NOT_FOUND'],
  409: ['TRANSACTION_TAKEN', 'WORK_NOT_OPEN'],
})
/** As the chain of the item writes it. */
const transactionId = z.string().min(1).max(128)
const itemPath = z.object({ id: z.uuid() })

const sharedFields = { tags: ['solver'], security: [{ apiKey: [] }] }
const config = { rateLimitClass: 'read' }
const listSchema = {
  ...sharedFields,
  operationId: 'listWork',
  errors: databaseErrors,
  summary: 'Open work items: those that money is in, oldest first, then permits',
  querystring: z.object({
    limit: z.coerce.number().int().min(1).max(itemsMax).default(50),
    waitMs: z.coerce
      .number()
      .int()
      .min(1)
      .max(waitMaxMs)
      .optional()
      .describe('Held for so long, or until there is an item that `known` does not name'),
    known: z
      .string()
      .max(knownLengthMax)
      .regex(knownPattern, 'must be what an answer gave')
      .default('')
      .describe('With `waitMs`: as the answer before gave it'),
    stopped: z
      .string()
      .regex(/^([0-9]{1,15}(,[0-9]{1,15}){0,63})?$/, 'must be chain ids with commas between them')
      .default('')
      .describe('Chains on which the solver pays nothing now: they are not quoted to for a minute'),
    ...termsQuery,
    unattested: exposureText,
  }),
  response: {
    200: z.object({
      items: z.array(openWorkItemSchema),
      known: z
        .string()
        .optional()
        .describe('Where `waitMs` was sent: names these items in their state, for the next request'),
      differences: z
        .array(z.string())
        .optional()
        .describe('What of the sent settings this service contradicts; nothing is sold meanwhile'),
    }),
    ...errorResponses,
  },
}

const reportSchema = {
  ...sharedFields,
  operationId: 'reportWork',
  errors: mergeErrors(itemErrors, reportErrors),
  summary: 'Tell the transaction of an item, before it is broadcast',
  params: itemPath,
  body: z.object({
    txHash: transactionId,
    replaces: transactionId
      .optional()
      .describe('The one reported before, of the same nonce, where its price was raised'),
    validUntil: z
      .int()
      .positive()
      .optional()
      .describe('Unix seconds; in a later block it has no effect: its fill is offered again'),
  }),
  response: { 200: messageAnswer, ...errorResponses },
}

const failedSchema = {
  ...sharedFields,
  operationId: 'failWork',
  errors: itemErrors,
  summary: 'Tell that an item cannot be done now; nothing is broadcast for it',
  params: itemPath,
  body: z.object({ reason: z.string().min(1).max(reasonLengthMax) }),
  response: { 200: messageAnswer, ...errorResponses },
}

const waitSchema = {
  ...failedSchema,
  operationId: 'waitWork',
  summary: 'Tell why an item is not begun yet; it counts as no attempt',
}

/**
 * Registers `/solver/work`, where a solver fetches open items and states its terms, and the routes on which
 * it reports what became of an item. The statement counts from its arrival, also where the answer is held
 * until there is a new item; the items are read after that wait. A report is only a hint: only facts of a
 * chain move a request. @source rule L-70
 */
export function registerSolver(
  app: HttpApp,
  { solverWork, workOffers }: { solverWork: SolverWork; workOffers: Pick<WorkOffers, 'untilNew'> },
): void {
  app.get('/solver/work', { schema: listSchema, config }, async (request) => {
    const { query, apiKey } = request
    requireSolver(apiKey)
    const { limit, waitMs, known, stopped } = query
    const solverStatement = {
      stopped: stopped.split(',').filter(Boolean).map(Number),
      name: query.solver,
      terms: readTermsQuery(query),
      exposure: parseExposure(query.unattested),
    }
    const differenceTexts = await solverWork.hear(solverStatement)
    const differences = differenceTexts.length > 0 ? differenceTexts : undefined
    if (waitMs === undefined) return { items: (await solverWork.list(limit)).map(toWire), differences }
    await holdRequest(request, waitMs, (signal) => workOffers.untilNew({ known, limit }, signal))
    const items = await solverWork.list(limit)
    return { items: items.map(toWire), known: knownOf(items), differences }
  })
  app.post('/solver/work/:id/report', { schema: reportSchema, config }, async ({ params, body, apiKey }) => {
    requireSolver(apiKey)
    const { txHash, replaces, validUntil } = body
    await solverWork.report(params.id, txHash, { replaces, validUntil })
    return { message: 'Reported' }
  })
  app.post('/solver/work/:id/failed', { schema: failedSchema, config }, async ({ params, body, apiKey }) => {
    requireSolver(apiKey)
    await solverWork.fail(params.id, body.reason)
    return { message: 'Noted' }
  })
  app.post('/solver/work/:id/waits', { schema: waitSchema, config }, async ({ params, body, apiKey }) => {
    requireSolver(apiKey)
    await solverWork.wait(params.id, body.reason)
    return { message: 'Noted' }
  })
}

/** Refuses other callers as if their key were unknown, so that they learn nothing. @throws RequestFailure */
function requireSolver(apiKey: ApiKeyRecord | null): void {
  if (apiKey?.scopes.has(solverScope) !== true) throw unauthorized()
}

function toWire({ id, kind, requestId, chainId, payload, createdAtMs }: WorkItem) {
  const orderId = orderIdOf(payload)
  return openWorkItemSchema.parse({
    id,
    kind,
    chainId,
    payload,
    createdAt: new Date(createdAtMs).toISOString(),
    ...(requestId !== undefined && { requestId }),
    ...(orderId !== undefined && { orderId }),
  })
}

/** The order id stands in one of two places of a payload, by the kind of item; some kinds have none. */
const payloadIds = z.object({
  orderId: bytes32Text.optional(),
  deposit: z.object({ orderId: bytes32Text }).optional(),
})

function orderIdOf(payload: unknown): Hex | undefined {
  const { orderId, deposit } = payloadIds.parse(payload)
  return orderId ?? deposit?.orderId
}
