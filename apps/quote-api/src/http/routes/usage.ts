import { errorResponses, type HttpApp } from '@causeway/http'
import { z } from 'zod'
import { requireKey } from '../../requests/history/historyAccess.ts'
import type { ReadUsage } from '../../requests/history/usageReading.ts'
import { databaseErrors, mergeErrors } from '../routeErrors.ts'
import { unixSeconds } from '../wire/historyQuery.ts'

const responseSchema = z.object({
  metrics: z.array(
    z.object({
      apiKey: z.string().describe('Public id of the key'),
      timestamp: z.string().describe('When the minute, hour or day begins, in ISO 8601'),
      endpoint: z.string().describe('As this description names it; `unknown` for every URL that it does not'),
      statusCode: z.number(),
      errorCode: z.string().optional().describe('Of answers with 400 alone'),
      count: z.number(),
    }),
  ),
})

const schema = {
  operationId: 'listUsage',
  tags: ['history'],
  security: [{ apiKey: [] }],
  errors: mergeErrors(databaseErrors, { 403: ['FORBIDDEN'] }),
  summary: 'How often your key was answered, by endpoint, status and error code',
  querystring: z.object({
    granularity: z
      .enum(['minutely', 'hourly', 'daily'])
      .default('hourly')
      .describe('Minutes of the last 24 hours, hours of 7 days, days of 14 days'),
    startTimestamp: unixSeconds
      .optional()
      .describe('Unix seconds, included; nothing is older than the granularity reaches'),
    endTimestamp: unixSeconds.optional().describe('Unix seconds, included; default now'),
    apiKey: z
      .string()
      .regex(/^[a-z2-7]{10}(,[a-z2-7]{10}){0,49}$/, 'must be public ids of at most 50 keys, joined by commas')
      .optional()
      .describe('Public ids, joined by commas: your own and those of keys of your wallet; never secrets'),
  }),
  response: { 200: responseSchema, ...errorResponses },
}

/** GET /metrics/usage: how often the caller's key was answered, by what. @source rules L-90, L-91, L-93 */
export function registerUsage(app: HttpApp, { readUsage }: { readonly readUsage: ReadUsage }): void {
  const config = { rateLimitClass: 'read' }
  app.get('/metrics/usage', { schema, config }, async ({ query, apiKey }) => {
    const { granularity, startTimestamp, endTimestamp, apiKey: keyIdsText } = query
    const sums = await readUsage({
      caller: requireKey(apiKey),
      granularity,
      ...(keyIdsText !== undefined && { apiKeyIds: keyIdsText.split(',') }),
      ...(startTimestamp !== undefined && { startSeconds: startTimestamp }),
      ...(endTimestamp !== undefined && { endSeconds: endTimestamp }),
    })
    return {
      metrics: sums.map(({ apiKeyId, startsAt, endpoint, statusCode, errorCode, answers }) => ({
        apiKey: apiKeyId,
        timestamp: startsAt.toISOString(),
        // As OpenAPI writes path parameters.
        endpoint: endpoint.replace(/:(\w+)/g, '{$1}'),
        statusCode,
        ...(errorCode !== '' && { errorCode }),
        count: Number(answers),
      })),
    }
  })
}
