import { errorResponses, type HttpApp, type Readiness } from '@causeway/http'
import { type MarketHealth, marketHealthSchema } from '@causeway/market'
import { z } from 'zod'

const readinessSchema = z.object({
  ready: z.boolean(),
  draining: z.boolean(),
  checks: z.record(z.string(), z.enum(['ok', 'failed'])),
  reasons: z.record(z.string(), z.string()).optional(),
})

/**
 * `/admin/health`: what `/ready` and `/prices/health` say, for a page that may ask no other listener. Names no
 * endpoint: their addresses carry keys.
 */
export function registerHealthRoutes(
  app: HttpApp,
  { readiness, marketHealth }: { readonly readiness: Readiness; readonly marketHealth: () => MarketHealth },
): void {
  const schema = {
    response: {
      200: z.object({ readiness: readinessSchema, market: marketHealthSchema }),
      ...errorResponses,
    },
  }
  app.get('/admin/health', { schema }, async () => {
    const { reasons, checks, ...report } = await readiness.report()
    return {
      readiness: {
        ...report,
        checks: { ...checks },
        ...(reasons !== undefined && { reasons: { ...reasons } }),
      },
      market: marketHealth(),
    }
  })
}
