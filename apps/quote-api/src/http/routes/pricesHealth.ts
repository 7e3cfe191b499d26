import { errorResponses, type HttpApp } from '@causeway/http'
import { type MarketHealth, marketHealthSchema } from '@causeway/market'

/** GET /prices/health: where each USD figure comes from and how old it is. */
export function registerPricesHealth(app: HttpApp, marketHealth: () => MarketHealth): void {
  const schema = {
    operationId: 'getPricesHealth',
    tags: ['health'],
    errors: {},
    summary: 'Provenance of every USD price, and the state of every chain',
    response: { 200: marketHealthSchema, ...errorResponses },
  }
  app.get('/prices/health', { schema, config: { rateLimitClass: 'read' } }, async () => marketHealth())
}
