import { mapMaybe } from '@causeway/core'
import { type ApiKeyRecord, errorResponses, type HttpApp } from '@causeway/http'
import { priceRequest, rewardsFor } from '../../pricing/priceRequest.ts'
import type { PricingDependencies } from '../../pricing/pricingDependencies.ts'
import type { RequestWaits } from '../../pricing/requestWaits.ts'
import { refuseDeniedRequest } from '../../pricing/routes/deniedParties.ts'
import { pricingErrors } from '../routeErrors.ts'
import type { AnswerTimed } from '../timedAnswer.ts'
import { priceResponseSchema, priceToJson } from '../wire/priceResponse.ts'
import { type PriceBody, priceBodySchema, toQuoteRequest } from '../wire/quoteBody.ts'

/** 2025-06-01, as the public interface has it: `/quote` does all that `/price` does. */
const deprecatedSinceUnixSeconds = 1_748_736_000

/** POST /price. Reads the market, changes nothing. @source rules Q-service-02, Q-price-res-01 */
export function registerPrice(
  app: HttpApp,
  dependencies: PricingDependencies,
  answerTimed: AnswerTimed,
): void {
  const schema = {
    operationId: 'price',
    tags: ['quotes'],
    summary: 'Price a request without steps',
    deprecated: true,
    // Needs no API key, by the public interface; a key that is sent is checked nevertheless.
    security: [],
    errors: pricingErrors,
    body: priceBodySchema,
    response: { 200: priceResponseSchema, ...errorResponses },
  }
  const config = {
    rateLimitClass: 'quote',
    deprecation: { sinceUnixSeconds: deprecatedSinceUnixSeconds, successor: '/quote' },
  }
  const answer = (body: PriceBody, apiKey: ApiKeyRecord | null, waits: RequestWaits) => {
    const request = toQuoteRequest(body)
    refuseDeniedRequest(dependencies, request, apiKey?.keyId)
    const rewards = rewardsFor(dependencies, apiKey?.keyId)
    return mapMaybe(priceRequest(dependencies, request, { rewards, waits }), priceToJson)
  }
  app.post('/price', { schema, config }, ({ body, apiKey }, reply) =>
    answerTimed(reply, (waits) => answer(body, apiKey, waits)),
  )
}
