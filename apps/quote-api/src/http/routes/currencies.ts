import { errorResponses, type HttpApp } from '@causeway/http'
import type { QuoteRegistry } from '../../pricing/registry.ts'
import { currenciesBodySchema, currenciesResponseSchema, selectCurrencies } from '../wire/currencies.ts'

/** POST /currencies/v2. @source quote-api.md 3.3 */
export function registerCurrencies(app: HttpApp, registry: QuoteRegistry): void {
  const schema = {
    tags: ['discovery'],
    summary: 'Search the currencies that can be quoted',
    body: currenciesBodySchema,
    response: { 200: currenciesResponseSchema, ...errorResponses },
  }
  app.post('/currencies/v2', { schema, config: { rateLimitClass: 'read' } }, async ({ body }) =>
    selectCurrencies(registry, body),
  )
}
