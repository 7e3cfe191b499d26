import rateLimitPlugin, { normalizeIP } from '@fastify/rate-limit'
import type { FastifyRequest, RouteOptions } from 'fastify'
import { exemptionOfPath } from './exchange.ts'
import { RequestFailure } from './failure.ts'
import type { HttpApp } from './fastifyTypes.ts'
import { FixedWindows } from './fixedWindows.ts'

/** Requests of one window. 0 is off. */
export type RateLimit = { readonly perKeyMax: number; readonly perIpMax: number }

export type RateLimitOptions = {
  readonly windowMs: number
  /** One bucket per class and caller; routes name theirs in `config.rateLimitClass`. */
  readonly classes: Readonly<Record<string, RateLimit>>
  /** Class of routes that name none, and of unknown URLs. */
  readonly defaultClass: string
  /** Wrong keys per network and minute before 429; 0 is off. */
  readonly failedKeysPerMinuteMax: number
}

/** Refuses a request above its caller's limit with 429; sets the `x-ratelimit-*` headers. */
export type Limiter = ReturnType<HttpApp['rateLimit']>

/**
 * Limits by class: per key for keyed requests, else per address (an IPv6 caller is its /64), in
 * fixed windows counted from a caller's first request, before the body is read.
 * `find` is `undefined` for a class that is off, so that nothing runs for it.
 * @source ledger-and-safety.md 3.3, design.md 5.7
 */
export async function createLimiters(
  app: HttpApp,
  options: RateLimitOptions,
): Promise<{ find(className: string): Limiter | undefined }> {
  await app.register(rateLimitPlugin, { global: false, store: FixedWindows })
  const limiters = new Map<string, Limiter | undefined>()
  for (const [className, limit] of Object.entries(options.classes)) {
    const isOff = limit.perKeyMax === 0 && limit.perIpMax === 0
    limiters.set(className, isOff ? undefined : createLimiter(app, limit, options.windowMs))
  }
  return {
    find(className) {
      if (!limiters.has(className)) throw new Error(`no rate limit class is named ${className}`)
      return limiters.get(className)
    },
  }
}

function createLimiter(app: HttpApp, limit: RateLimit, windowMs: number): Limiter {
  const maxOf = (request: FastifyRequest) => (request.apiKey === null ? limit.perIpMax : limit.perKeyMax)
  return app.rateLimit({
    timeWindow: windowMs,
    max: maxOf,
    keyGenerator: callerOf,
    allowList: (request) => maxOf(request) === 0,
    errorResponseBuilder: (_request, { ttl }) =>
      new RequestFailure('rate_limited', 'Rate limit exceeded.', { retryAfterSeconds: ttl / 1000 }),
  })
}

/** Who a request counts against. */
function callerOf(request: Pick<FastifyRequest, 'apiKey' | 'ip'>): string {
  return request.apiKey === null ? `ip ${networkOf(request.ip)}` : `key ${request.apiKey.keyId}`
}

/** The address for IPv4, the /64 for IPv6: one subscriber is handed at least that much. */
export function networkOf(ip: string): string {
  const [withoutZone = ip] = ip.split('%', 1)
  return normalizeIP(withoutZone, 64)
}

/** onRoute hook that puts each route into its class. Exempt paths and preflights have none. */
export function limitRoute(
  route: RouteOptions,
  limiters: { find(className: string): Limiter | undefined },
  defaultClass: string,
): void {
  const className = route.config?.rateLimitClass ?? defaultClass
  if (className === false || route.method === 'OPTIONS') return
  if (exemptionOfPath(route.url) !== undefined) return
  const limiter = limiters.find(className)
  if (limiter === undefined) return
  route.onRequest = [...[route.onRequest ?? []].flat(), limiter]
}
