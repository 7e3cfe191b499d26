import { z } from 'zod'
import type { HttpApp } from './fastifyTypes.ts'

/** GET /lives/v1: the process answers. Asks nothing of anybody, so a slow dependency kills nobody. */
export function registerLiveness(app: HttpApp): void {
  app.get(
    '/lives/v1',
    {
      schema: {
        tags: ['health'],
        summary: 'Tell whether the process is up',
        response: { 200: z.object({ status: z.literal('ok') }) },
      },
      config: { rateLimitClass: false },
    },
    async () => ({ status: 'ok' as const }),
  )
}
