import { type ApiKeyRecord, answerJson, errorResponses, type HttpApp } from '@causeway/http'
import { createQuote } from '../../requests/draft/createQuote.ts'
import {
  createSponsoredQuote,
  type SponsoredQuoteDependencies,
} from '../../requests/draft/createSponsoredQuote.ts'
import { quotingErrors } from '../routeErrors.ts'
import {
  type QuoteBody,
  quoteBodySchema,
  quoteV2BodySchema,
  toQuoteRequest,
  toSponsorshipRequest,
} from '../wire/quoteBody.ts'
import { quoteResponseSchema, quoteToJson } from '../wire/quoteResponse.ts'

/**
 * POST /quote and POST /quote/v2: one answer, two rules for `recipient`.
 * @source quote-and-sponsorship.md, POST /quote; design.md 5.1
 */
export function registerQuote(
  app: HttpApp,
  dependencies: SponsoredQuoteDependencies & { environment: string },
): void {
  const answer = async (body: QuoteBody, apiKey: ApiKeyRecord | null) => {
    const request = toQuoteRequest(body)
    const sponsorship = toSponsorshipRequest(body)
    const quote =
      sponsorship === undefined
        ? await createQuote(dependencies, request, apiKey?.keyId)
        : await createSponsoredQuote(dependencies, { request, sponsorship, keyId: apiKey?.keyId })
    return quoteToJson(quote, dependencies.environment)
  }
  const schema = {
    tags: ['quotes'],
    errors: quotingErrors,
    summary: 'Quote a request: price, steps to execute, and the order they serve',
    response: { 200: quoteResponseSchema, ...errorResponses },
  }
  const config = { rateLimitClass: 'quote' }
  app.post(
    '/quote',
    { schema: { ...schema, operationId: 'quote', body: quoteBodySchema }, config },
    ({ body, apiKey }, reply) => answerJson(reply, answer(body, apiKey)),
  )
  app.post(
    '/quote/v2',
    { schema: { ...schema, operationId: 'quoteV2', body: quoteV2BodySchema }, config },
    ({ body, apiKey }, reply) => answerJson(reply, answer(body, apiKey)),
  )
}
