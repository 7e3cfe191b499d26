import { randomBytes } from 'node:crypto'
import cors from '@fastify/cors'
import type { FastifyBaseLogger } from 'fastify'
import { z } from 'zod'
import { registerApiKeys } from './apiKeyHook.ts'
import type { ApiKeys } from './apiKeys.ts'
import { createBareApp, readClientRequestId, type ServerLimits } from './bareApp.ts'
import { markDeprecatedRoute } from './deprecation.ts'
import type { ErrorPolicy } from './describeFailure.ts'
import { errorResponses } from './errorBody.ts'
import { notFound } from './errorHandler.ts'
import { exemptionOf, type SlotLimits } from './exchange.ts'
import type { HttpApp } from './fastifyTypes.ts'
import type { HttpMetrics } from './metrics.ts'
import { type OpenApiOptions, registerOpenApi } from './openapi.ts'
import { type KeyedAnswer, registerTraffic } from './overload.ts'
import { createLimiters, type Limiter, limitRoute, type RateLimitOptions } from './rateLimit.ts'
import type { Readiness } from './readiness.ts'
import { registerSpans, type TracedRequests } from './requestLine.ts'
import { registerSecurityText } from './securityText.ts'
import { registerWebsocket, type WebsocketRoute } from './websockets.ts'

export type HttpAppOptions = {
  readonly logger: FastifyBaseLogger
  readonly errors: ErrorPolicy
  readonly apiKeys: ApiKeys
  /**
   * A key that was sent and is not known: refused with 401, or served as if none was sent.
   * Default `refuse`.
   */
  readonly unknownKeys?: 'refuse' | 'ignore'
  /** True: a key is taken from `authorization: Bearer` as well. Default false. */
  readonly bearerKeys?: boolean
  readonly rateLimits: RateLimitOptions
  readonly metrics: HttpMetrics
  readonly readiness: Readiness
  /** Told of each answer to a request with a key, after it was sent. Must not throw. */
  readonly onKeyedAnswer?: (answer: KeyedAnswer) => void
  /** From `parseTrustedProxies`. */
  readonly trustedProxies: readonly string[]
  /** True opens the app to browsers of every origin. */
  readonly cors: boolean
  /** Absent: no description and no page. */
  readonly openApi?: OpenApiOptions
  /** From `parseSecurityContact`. Absent: no security.txt. */
  readonly securityContact?: string | undefined
  readonly limits?: Partial<ServerLimits>
  readonly slots?: Partial<SlotLimits>
  /** Time a handler has before 503; default 5 s. A route's `config.handlerTimeoutMs` wins. */
  readonly handlerTimeoutMs?: number
  /** Absent: requests are not traced. */
  readonly traces?: TracedRequests | undefined
  /** The one route that takes websockets. */
  readonly websocket?: WebsocketRoute
}

const defaultSlots: SlotLimits = {
  inFlightMax: 512,
  documentationMax: 128,
  bodiesArrivingMax: 256,
  heldMax: 64,
}

/**
 * Makes the public listener of a service: errors, request ids, limits, keys, CORS, description page, liveness and
 * metrics are in place. The caller registers its routes, with zod schemas, and listens.
 * @source rules O-165, Q-139 to Q-141
 */
export async function createHttpApp(options: HttpAppOptions): Promise<HttpApp> {
  const { app, connections } = createBareApp({
    logger: options.logger,
    errors: options.errors,
    trustedProxies: options.trustedProxies,
    processPrefix: randomBytes(5).toString('hex'),
    ...(options.limits !== undefined && { limits: options.limits }),
    ...(options.websocket !== undefined && { websocketPath: options.websocket.path }),
  })
  // The order of hooks matters: each one below may refuse a request, and the later ones then do not run.
  // CORS comes first, so that browsers may read those refusals.
  if (options.cors) await registerCors(app)
  registerHeaders(app, options.readiness)
  registerTraffic(app, {
    slots: { ...defaultSlots, ...options.slots },
    handlerTimeoutMs: options.handlerTimeoutMs ?? 5_000,
    connections,
    metrics: options.metrics,
    readiness: options.readiness,
    onKeyedAnswer: options.onKeyedAnswer,
  })
  if (options.traces !== undefined) registerSpans(app, options.traces)
  const limiters = await createLimiters(app, options.rateLimits)
  registerApiKeys(app, options)
  registerUnknownUrls(app, limiters.find(options.rateLimits.defaultClass))
  // Before the first route is declared, because it sees only later ones. Limiters run after the hooks above.
  app.addHook('onRoute', (route) => {
    // Before the limiter, so that its refusals carry the deprecation headers too.
    markDeprecatedRoute(route)
    limitRoute(route, limiters, options.rateLimits.defaultClass)
  })
  if (options.openApi !== undefined) {
    await registerOpenApi(app, {
      ...options.openApi,
      policy: options.errors,
      bearerKeys: options.bearerKeys === true,
    })
  }
  registerLiveness(app)
  registerSecurityText(app, options.securityContact, new Date())
  if (options.websocket !== undefined) {
    const count = limiters.counterOf(options.websocket.rateLimitClass)
    await registerWebsocket(app, options.websocket, { ...options, connections, count })
  }
  return app
}

function registerHeaders(app: HttpApp, readiness: Readiness): void {
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('cache-control', 'no-store')
    reply.header('x-content-type-options', 'nosniff')
    reply.header('x-request-id', request.id)
    // Lets clients close their connections before the listener closes, so that none is cut.
    if (readiness.isDraining()) reply.header('connection', 'close')
    const clientId = request.headers['x-request-id']
    if (clientId !== undefined) request.clientRequestId = readClientRequestId(clientId) ?? null
    done()
  })
}

/** Refuses unknown URLs with 404 before their body is read. They count against the default limit unless exempt. */
function registerUnknownUrls(app: HttpApp, limiter: Limiter | undefined): void {
  app.addHook('onRequest', (request, reply, done) => {
    if (!request.is404) return done()
    const isUnlimited = limiter === undefined || exemptionOf(request) !== undefined
    const counted = isUnlimited ? Promise.resolve() : limiter.call(app, request, reply)
    Promise.resolve(counted).then(() => done(notFound()), done)
  })
}

/** Opens an app to browsers on every origin, without credentials. */
async function registerCors(app: HttpApp): Promise<void> {
  await app.register(cors, {
    origin: '*',
    credentials: false,
    methods: ['GET', 'POST'],
    // Without `allowedHeaders` the plugin allows the headers that a page asks for: public SDKs add their own.
    exposedHeaders: [
      'x-ratelimit-limit',
      'x-ratelimit-remaining',
      'x-ratelimit-reset',
      'retry-after',
      'deprecation',
      'sunset',
      'link',
      'x-request-id',
      'server-timing',
    ],
    maxAge: 600,
    // With strict preflights the plugin would answer malformed ones itself, without the shared error body.
    strictPreflight: false,
  })
}

/** GET /lives/v1: the process answers. It asks no dependency, so that a slow one never restarts the process. */
function registerLiveness(app: HttpApp): void {
  app.get(
    '/lives/v1',
    {
      schema: {
        operationId: 'getLiveness',
        tags: ['health'],
        summary: 'Tell whether the process is up',
        security: [],
        errors: {},
        response: { 200: z.object({ status: z.literal('ok') }), ...errorResponses },
      },
      config: { rateLimitClass: false },
    },
    async () => ({ status: 'ok' as const }),
  )
}
