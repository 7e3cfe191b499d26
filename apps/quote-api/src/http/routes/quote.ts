import { callerOf, errorResponses, type HttpApp, noteSubject } from '@causeway/http'
import type { KeylessBudget } from '../../access/keylessBudget.ts'
import type { RequestWaits } from '../../pricing/requestWaits.ts'
import { createQuote } from '../../requests/draft/createQuote.ts'
import {
  createSponsoredQuote,
  type SponsoredQuoteDependencies,
} from '../../requests/draft/createSponsoredQuote.ts'
import { aboutFees } from '../feeTable.ts'
import { keylessErrors, mergeErrors, quotingErrors } from '../routeErrors.ts'
import type { AnswerTimed } from '../timedAnswer.ts'
import {
  type QuoteBody,
  quoteBodySchema,
  quoteV2BodySchema,
  toQuoteRequest,
  toSponsorshipRequest,
} from '../wire/quoteBody.ts'
import { quoteResponseSchema, quoteToJson } from '../wire/quoteResponse.ts'

type Dependencies = SponsoredQuoteDependencies & {
  readonly environment: string
  /** Limits order signatures for callers without an API key. */
  readonly signatureBudget: KeylessBudget
}

/**
 * POST /quote and POST /quote/v2: the answer is the same, the rule for `recipient` differs (see the two body schemas).
 * @source rule Q-142
 */
export function registerQuote(
  app: HttpApp,
  dependencies: Dependencies,
  answerTimed: Readonly<Record<'quote' | 'quote_v2', AnswerTimed>>,
): void {
  const schema = {
    tags: ['quotes'],
    errors: mergeErrors(quotingErrors, keylessErrors),
    summary: 'Quote a request: price, steps to execute, and the order they serve',
    response: { 200: quoteResponseSchema, ...errorResponses },
  }
  const config = { rateLimitClass: 'quote' }
  app.post(
    '/quote',
    { schema: { ...schema, operationId: 'quote', description: aboutFees, body: quoteBodySchema }, config },
    (request, reply) =>
      answerTimed.quote(reply, (waits) => answerQuote(dependencies, request, request.body, waits)),
  )
  app.post(
    '/quote/v2',
    {
      schema: {
        ...schema,
        operationId: 'quoteV2',
        description: 'Fees: as of POST /quote',
        body: quoteV2BodySchema,
      },
      config,
    },
    (request, reply) =>
      answerTimed.quote_v2(reply, (waits) => answerQuote(dependencies, request, request.body, waits)),
  )
}

/** Makes a quote, with a sponsor if the body asks for one. @param waits counts what the quote waits for */
async function answerQuote(
  dependencies: Dependencies,
  httpRequest: Parameters<typeof noteSubject>[0],
  body: QuoteBody,
  waits: RequestWaits,
): Promise<string> {
  const asker = { keyId: httpRequest.apiKey?.keyId, caller: callerOf(httpRequest) }
  const countedDependencies = withDraftWaits(dependencies, waits)
  const request = toQuoteRequest(body)
  // Protocol data includes the order's signature, which costs the operator money.
  if (request.includeProtocolData && asker.keyId === undefined)
    await dependencies.signatureBudget.take([asker.caller])
  const sponsorship = toSponsorshipRequest(body)
  const quote =
    sponsorship === undefined
      ? await createQuote(countedDependencies, request, asker)
      : await createSponsoredQuote(countedDependencies, { request, sponsorship, ...asker })
  noteSubject(httpRequest, {
    requestId: quote.requestId,
    ...(quote.ordered !== undefined && { orderId: quote.ordered.orderId }),
  })
  return quoteToJson(quote, dependencies.environment)
}

/** Dependencies of one request, whose waits for chains, for the signing key and for the database are counted. */
function withDraftWaits<Dependencies extends SponsoredQuoteDependencies>(
  dependencies: Dependencies,
  waits: RequestWaits,
): Dependencies {
  const { permitTokens, signer, sponsors, store, storeSponsored } = dependencies
  return {
    ...dependencies,
    waits,
    permitTokens: {
      domainOf: (token) => waits.onChain(() => permitTokens.domainOf(token)),
      nonceOf: (...args) => waits.onChain(() => permitTokens.nonceOf(...args)),
    },
    signer: {
      ...signer,
      sign: (...args) => waits.during('sign', () => signer.sign(...args)),
    },
    sponsors: { walletOf: (keyId) => waits.during('store', () => sponsors.walletOf(keyId)) },
    store: (record) => waits.during('store', () => store(record)),
    storeSponsored: (...record) => waits.during('store', () => storeSponsored(...record)),
  }
}
