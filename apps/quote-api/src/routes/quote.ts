import { type ApiKeyRecord, errorResponses, type HttpApp } from '@causeway/http'
import { createQuote, type QuoteDependencies } from '../quoting/createQuote.ts'
import { checkSponsorship } from '../quoting/sponsorship.ts'
import { type QuoteBody, quoteBodySchema, quoteV2BodySchema, toQuoteRequest } from '../wire/quoteBody.ts'
import { quoteResponseSchema, quoteToWire } from '../wire/quoteResponse.ts'

/**
 * POST /quote and POST /quote/v2: one handler, two rules for `recipient`.
 * @source quote-and-sponsorship.md, POST /quote; design.md 5.1
 */
export function registerQuote(app: HttpApp, dependencies: QuoteDependencies & { environment: string }): void {
  const handle = async (body: QuoteBody, apiKey: ApiKeyRecord | null) => {
    checkSponsorship(body, apiKey)
    const quote = await createQuote(dependencies, toQuoteRequest(body), apiKey?.keyId)
    return quoteToWire(quote, dependencies.environment)
  }
  const schema = {
    tags: ['quotes'],
    summary: 'Quote a request: price, steps to execute, and the order they serve',
    response: { 200: quoteResponseSchema, ...errorResponses },
  }
  const config = { rateLimitClass: 'quote' }
  app.post('/quote', { schema: { ...schema, body: quoteBodySchema }, config }, ({ body, apiKey }) =>
    handle(body, apiKey),
  )
  app.post('/quote/v2', { schema: { ...schema, body: quoteV2BodySchema }, config }, ({ body, apiKey }) =>
    handle(body, apiKey),
  )
}
