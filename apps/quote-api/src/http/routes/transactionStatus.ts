import { DomainError } from '@causeway/core'
import { errorResponses, type HttpApp } from '@causeway/http'
import { z } from 'zod'

class StatusMovedError extends DomainError {
  readonly code = 'NOT_FOUND'
  readonly kind = 'not_found'

  constructor() {
    super('There is no such route; the state of a request is at GET /intents/status/v3?requestId=.')
  }
}

/** GET /transactions/status: a page of the public documentation names it, and nothing else. @source clients.md 3 */
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
    throw new StatusMovedError()
  })
}
