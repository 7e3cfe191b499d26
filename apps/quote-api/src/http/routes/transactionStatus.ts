import { DomainError } from '@causeway/core'
import { errorResponses, type HttpApp } from '@causeway/http'
import { z } from 'zod'

class UnservedRouteError extends DomainError {
  readonly code = 'NOT_FOUND'
  readonly kind = 'not_found'

  constructor(instead: string) {
    super(`There is no such route; ${instead}.`)
  }
}

/** Routes of the public interface that this service does not have, each with a hint for the 404. @source Q-111 */
const unservedRoutes = [
  ['GET', '/chains/:chainId/currencies/:address/chart', 'no prices of before are kept'],
  ['POST', '/execute/swap', 'quotes are at POST /quote/v2'],
  ['POST', '/execute/swap/multi-input', 'a request has one input, and its quote is at POST /quote/v2'],
  ['POST', '/fast-fill', 'nothing is filled before its deposit is deep enough'],
] as const

/** GET /transactions/status and other routes that public documentation names and that are not served: 404 with a hint. */
export function registerTransactionStatus(app: HttpApp): void {
  const schema = {
    operationId: 'getTransactionStatus',
    tags: ['status'],
    summary: 'Names the route that tells the state of a request',
    deprecated: true,
    errors: { 404: ['NOT_FOUND'] },
    response: { 200: z.object({}), ...errorResponses },
  }
  app.get('/transactions/status', { schema, config: { rateLimitClass: 'status' } }, async () => {
    throw new UnservedRouteError('the state of a request is at GET /intents/status/v3?requestId=')
  })
  for (const [method, url, instead] of unservedRoutes)
    app.route({
      method,
      url,
      schema: { hide: true },
      config: { rateLimitClass: 'read' },
      handler: async () => {
        throw new UnservedRouteError(instead)
      },
    })
}
