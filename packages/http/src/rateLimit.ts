import rateLimitPlugin, { normalizeIP } from '@fastify/rate-limit'
import type { FastifyRequest, RouteOptions } from 'fastify'
import { exemptionOfPath } from './exchange.ts'
import { RequestFailure } from './failure.ts'
import type { HttpApp } from './fastifyTypes.ts'
import { FixedWindows } from './fixedWindows.ts'
import { type SharedLimits, SharedWindows } from './sharedWindows.ts'

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
  /** Shared counter of several processes. Absent: each process counts for itself. */
  readonly shared?: SharedLimits
}

/** Refuses a request above its caller's limit with 429; sets the `x-ratelimit-*` headers. */
export type Limiter = ReturnType<HttpApp['rateLimit']>

/** Counts one more against the caller of a request. @returns false above its limit */
export type CountOnce = (request: FastifyRequest) => Promise<boolean>

export type Limiters = {
  find(className: string): Limiter | undefined
  /** For what is no request of its own, in the bucket of the class's requests. */
  counterOf(className: string): CountOnce
}

/**
 * Limits by class: per key for keyed requests, else per address (an IPv6 caller is its /64), in
 * fixed windows counted from a caller's first request, before the body is read.
 * `find` is `undefined` for a class that is off, so that nothing runs for it.
 * @source rule Q-141
 */
export async function createLimiters(app: HttpApp, options: RateLimitOptions): Promise<Limiters> {
  await app.register(rateLimitPlugin, { global: false, store: storeOf(options.shared) })
  const classes = new Map<string, ClassLimiter | undefined>()
  for (const [className, limit] of Object.entries(options.classes)) {
    const isOff = limit.perKeyMax === 0 && limit.perIpMax === 0
    classes.set(
      className,
      isOff ? undefined : createLimiter(app, { bucket: className, limit, windowMs: options.windowMs }),
    )
  }
  const named = (className: string) => {
    if (!classes.has(className)) throw new Error(`no rate limit class is named ${className}`)
    return classes.get(className)
  }
  return {
    find: (className) => named(className)?.limiter,
    counterOf: (className) => named(className)?.count ?? (async () => true),
  }
}

/** The plugin makes its store itself, from a class. */
function storeOf(shared: SharedLimits | undefined): new () => FixedWindows | SharedWindows {
  if (shared === undefined) return FixedWindows
  const limits = shared
  return class extends SharedWindows {
    constructor() {
      super(limits)
    }
  }
}

type ClassLimiter = { readonly limiter: Limiter; readonly count: CountOnce }

function createLimiter(
  app: HttpApp,
  args: { readonly bucket: string; readonly limit: RateLimit; readonly windowMs: number },
): ClassLimiter {
  const { bucket, limit, windowMs } = args
  const maxOf = (request: FastifyRequest) => (request.apiKey === null ? limit.perIpMax : limit.perKeyMax)
  const shared = {
    bucket,
    timeWindow: windowMs,
    max: maxOf,
    keyGenerator: callerOf,
    allowList: (request: FastifyRequest) => maxOf(request) === 0,
  }
  const tries = app.createRateLimit(shared)
  const limiter = app.rateLimit({
    ...shared,
    errorResponseBuilder: (_request, { ttl }) =>
      new RequestFailure('rate_limited', 'Rate limit exceeded.', { retryAfterSeconds: ttl / 1000 }),
  })
  return {
    limiter,
    async count(request) {
      const state = await tries(request)
      return state.isAllowed || !state.isExceeded
    },
  }
}

/** Identity that a request counts against. */
export function callerOf(request: Pick<FastifyRequest, 'apiKey' | 'ip'>): string {
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
  limiters: Pick<Limiters, 'find'>,
  defaultClass: string,
): void {
  const className = route.config?.rateLimitClass ?? defaultClass
  if (className === false || route.method === 'OPTIONS') return
  if (exemptionOfPath(route.url) !== undefined) return
  const limiter = limiters.find(className)
  if (limiter === undefined) return
  route.onRequest = [...[route.onRequest ?? []].flat(), limiter]
}
