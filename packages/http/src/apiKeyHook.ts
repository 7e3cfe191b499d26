import type { FastifyRequest } from 'fastify'
import { type ApiKeys, apiKeyHeader, readApiKeyHeader, readBearerToken } from './apiKeys.ts'
import { RequestFailure } from './failure.ts'
import type { HttpApp } from './fastifyTypes.ts'
import { networkOf, type RateLimitOptions } from './rateLimit.ts'

type ApiKeyHookOptions = {
  readonly apiKeys: ApiKeys
  readonly unknownKeys?: 'refuse' | 'ignore'
  readonly bearerKeys?: boolean
  readonly rateLimits: RateLimitOptions
}

const failedKeyWindowMs = 60_000

/**
 * Resolves `x-api-key`, or a bearer token in its place, before limits and body: a request without one passes
 * with `apiKey` null, a wrong or repeated one is 401, two different ones are 400. Failed tries are limited per network before any key is looked up.
 * @source ledger-and-safety.md 2.1, 2.2
 */
export function registerApiKeys(app: HttpApp, options: ApiKeyHookOptions): void {
  const { apiKeys, unknownKeys = 'refuse', bearerKeys = false, rateLimits } = options
  const failures = countFailures(app, rateLimits.failedKeysPerMinuteMax)
  const authenticate = async (request: FastifyRequest, header: string | string[]) => {
    if (unknownKeys === 'refuse') await failures.refuseAboveLimit(request)
    const presented = readApiKeyHeader(header)
    const record = presented === undefined ? undefined : await apiKeys.find(presented)
    request.apiKey = record ?? null
    if (record !== undefined || unknownKeys === 'ignore') return
    await failures.count(request)
    throw unauthorized()
  }
  app.addHook('onRequest', (request, _reply, done) => {
    const headerValue = request.headers[apiKeyHeader]
    const token = bearerKeys ? readBearerToken(request.headers.authorization) : undefined
    if (headerValue !== undefined && token !== undefined && headerValue !== token)
      return done(contradiction())
    const header = headerValue ?? token ?? readQueryKey(request)
    if (header === undefined) return done()
    authenticate(request, header).then(() => done(), done)
  })
}

/** API key from the query, for routes whose callers cannot send headers, as browsers opening a websocket. */
function readQueryKey({ routeOptions, query }: FastifyRequest): string | string[] | undefined {
  if (routeOptions.config?.apiKeyInQuery !== true) return undefined
  if (typeof query !== 'object' || query === null || !('apiKey' in query)) return undefined
  // Written twice it is a list, which is no key.
  return typeof query.apiKey === 'string' ? query.apiKey : []
}

/** The one body of every 401: it does not tell an unknown key from a malformed one. */
export function unauthorized(): RequestFailure {
  return new RequestFailure('unauthorized', 'The API key is missing or not valid.')
}

function contradiction(): RequestFailure {
  const message = `${apiKeyHeader} and authorization carry different keys; send one of them.`
  return new RequestFailure('invalid_request', message, { field: 'authorization' })
}

type FailureCounter = {
  refuseAboveLimit(request: FastifyRequest): Promise<void>
  count(request: FastifyRequest): Promise<void>
}

function countFailures(app: HttpApp, max: number): FailureCounter {
  if (max === 0) return { refuseAboveLimit: async () => {}, count: async () => {} }
  const counted = {
    bucket: 'wrong keys',
    max,
    timeWindow: failedKeyWindowMs,
    keyGenerator: (request: FastifyRequest) => networkOf(request.ip),
  }
  const tries = app.createRateLimit(counted)
  return {
    async refuseAboveLimit(request) {
      const state = await tries(request, { increment: false })
      if (state.isAllowed || state.remaining > 0) return
      throw new RequestFailure('rate_limited', 'Too many wrong API keys.', {
        retryAfterSeconds: state.ttl / 1000,
      })
    },
    async count(request) {
      await tries(request)
    },
  }
}
