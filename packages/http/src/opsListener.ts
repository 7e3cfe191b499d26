import { randomBytes } from 'node:crypto'
import type { FastifyBaseLogger } from 'fastify'
import type { Registry } from 'prom-client'
import { createBareApp } from './bareApp.ts'
import type { ErrorPolicy } from './describeFailure.ts'
import { notFound } from './errorHandler.ts'
import type { HttpApp } from './fastifyTypes.ts'
import { type Readiness, readinessSchema } from './readiness.ts'

/**
 * Makes the read-only listener for monitoring, on `OPS_PORT`: GET /metrics (Prometheus text), GET /ready (503 until
 * every check holds, and again while the process stops) and GET /lives/v1 (200 while the process answers).
 * @source rule O-191
 */
export function createOpsListener(options: {
  logger: FastifyBaseLogger
  errors: ErrorPolicy
  registry: Registry
  readiness: Readiness
}): HttpApp {
  const { logger, errors, registry, readiness } = options
  const { app } = createBareApp({
    logger,
    errors,
    trustedProxies: [],
    processPrefix: randomBytes(5).toString('hex'),
  })
  app.setNotFoundHandler(() => {
    throw notFound()
  })
  app.get('/metrics', async (_request, reply) => {
    reply.type(registry.contentType)
    return registry.metrics()
  })
  // Asks no dependency, so that an orchestrator never restarts a service because a chain's endpoint is silent.
  app.get('/lives/v1', async () => ({ status: 'ok' as const }))
  app.get(
    '/ready',
    { schema: { response: { 200: readinessSchema, 503: readinessSchema } } },
    async (_, reply) => {
      const report = await readiness.report()
      reply.code(report.ready ? 200 : 503)
      return report
    },
  )
  return app
}
