import type { HttpApp, Readiness } from '@causeway/http'
import { z } from 'zod'

const reportSchema = z.object({
  ready: z.boolean(),
  draining: z.boolean(),
  checks: z.record(z.string(), z.enum(['ok', 'failed'])),
  reasons: z.record(z.string(), z.string()).optional(),
})

/** GET /lives/ready/v1: whether traffic should be sent here; 503 until all checks hold. */
export function registerReadiness(app: HttpApp, readiness: Readiness): void {
  const schema = {
    tags: ['health'],
    summary: 'Tell whether the service takes traffic',
    response: { 200: reportSchema, 503: reportSchema },
  }
  app.get('/lives/ready/v1', { schema, config: { rateLimitClass: false } }, async (_request, reply) => {
    const report = await readiness.report()
    reply.code(report.ready ? 200 : 503)
    return report
  })
}
