import { errorResponses, type HttpApp, sendJson } from '@causeway/http'
import { type PricingDependencies, priceRequest } from '../quoting/priceRequest.ts'
import { priceResponseSchema, priceToJson } from '../wire/priceResponse.ts'
import { priceBodySchema, toQuoteRequest } from '../wire/quoteBody.ts'

/** 2025-06-01: since then `/quote` does all that `/price` does. */
const deprecatedSinceUnixSeconds = 1_748_736_000

/** POST /price. Reads the market, changes nothing. @source quote-and-sponsorship.md, POST /price */
export function registerPrice(app: HttpApp, dependencies: PricingDependencies): void {
  const schema = {
    tags: ['quotes'],
    summary: 'Price a request without steps',
    deprecated: true,
    body: priceBodySchema,
    response: { 200: priceResponseSchema, ...errorResponses },
  }
  const config = {
    rateLimitClass: 'quote',
    deprecation: { sinceUnixSeconds: deprecatedSinceUnixSeconds, successor: '/quote' },
  }
  app.post('/price', { schema, config }, async ({ body }, reply) => {
    const priced = await priceRequest(dependencies, toQuoteRequest(body))
    return sendJson(reply, priceToJson(priced))
  })
}
