import type { FastifyRequest } from 'fastify'
import { type ApiKeys, apiKeyHeader, readApiKeyHeader, readBearerToken } from './apiKeys.ts'
import { RequestFailure } from './failure.ts'
import type { HttpApp } from './fastifyTypes.ts'
import { networkOf, type RateLimitOptions } from './rateLimit.ts'

type ApiKeyHookOptions = {
  readonly apiKeys: ApiKeys
  /** Unknown keys: 401 (`refuse`, the default), or served as a request without a key. */
  readonly unknownKeys?: 'refuse' | 'ignore'
  /** True: `authorization: Bearer` may carry the key as well. Default false. */
  readonly bearerKeys?: boolean
  readonly rateLimits: RateLimitOptions
}

const failedKeyWindowMs = 60_000

/**
 * Adds the hook that resolves the caller's API key into `request.apiKey`, before rate limits and before the body is
 * read. No key: `apiKey` stays null. A wrong or repeated key: 401. Different keys in two headers: 400. Wrong keys are
 * limited per network; above the limit no key is looked up.
 * @source rules O-auth-01, Q-140
 */
export function registerApiKeys(app: HttpApp, options: ApiKeyHookOptions): void {
  const { apiKeys, unknownKeys = 'refuse', bearerKeys = false, rateLimits } = options
  const wrongKeys = createWrongKeyCounter(app, rateLimits.failedKeysPerMinuteMax)
  const authenticate = async (request: FastifyRequest, sentKey: string | string[]) => {
    if (unknownKeys === 'refuse') await wrongKeys.refuseAboveLimit(request)
    const presented = readApiKeyHeader(sentKey)
    const record = presented === undefined ? undefined : await apiKeys.find(presented)
    request.apiKey = record ?? null
    if (record !== undefined || unknownKeys === 'ignore') return
    await wrongKeys.count(request)
    throw unauthorized()
  }
  app.addHook('onRequest', (request, _reply, done) => {
    const headerValue = request.headers[apiKeyHeader]
    const token = bearerKeys ? readBearerToken(request.headers.authorization) : undefined
    if (headerValue !== undefined && token !== undefined && headerValue !== token)
      return done(contradiction())
    const sentKey = headerValue ?? token ?? readQueryKey(request)
    if (sentKey === undefined) return done()
    authenticate(request, sentKey).then(() => done(), done)
  })
}

/** API key from the query, for routes whose callers cannot send headers, as browsers opening a websocket. */
function readQueryKey({ routeOptions, query }: FastifyRequest): string | string[] | undefined {
  if (routeOptions.config?.apiKeyInQuery !== true) return undefined
  if (typeof query !== 'object' || query === null || !('apiKey' in query)) return undefined
  // A key given twice in the query arrives as a list. The empty list stands for a key that is not valid.
  return typeof query.apiKey === 'string' ? query.apiKey : []
}

/** Refusal of every missing, malformed or unknown key; its text does not reveal which of these it was. */
export function unauthorized(): RequestFailure {
  return new RequestFailure('unauthorized', 'The API key is missing or not valid.')
}

function contradiction(): RequestFailure {
  const message = `${apiKeyHeader} and authorization carry different keys; send one of them.`
  return new RequestFailure('invalid_request', message, { field: 'authorization' })
}

type WrongKeyCounter = {
  refuseAboveLimit(request: FastifyRequest): Promise<void>
  count(request: FastifyRequest): Promise<void>
}

/** @param max wrong keys per network and minute; 0 is no limit */
function createWrongKeyCounter(app: HttpApp, max: number): WrongKeyCounter {
  if (max === 0) return { refuseAboveLimit: async () => {}, count: async () => {} }
  const limitOptions = {
    bucket: 'wrong keys',
    max,
    timeWindow: failedKeyWindowMs,
    keyGenerator: (request: FastifyRequest) => networkOf(request.ip),
  }
  const checkLimit = app.createRateLimit(limitOptions)
  return {
    async refuseAboveLimit(request) {
      const usage = await checkLimit(request, { increment: false })
      // `isAllowed` is true only for callers of an allow list. None is set; the plugin's type asks for it.
      if (usage.isAllowed || usage.remaining > 0) return
      throw new RequestFailure('rate_limited', 'Too many wrong API keys.', {
        retryAfterSeconds: usage.ttl / 1000,
      })
    },
    async count(request) {
      await checkLimit(request)
    },
  }
}
