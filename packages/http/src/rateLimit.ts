import rateLimitPlugin, { normalizeIP } from '@fastify/rate-limit'
import type { FastifyRequest, RouteOptions } from 'fastify'
import { exemptionOfPath } from './exchange.ts'
import { RequestFailure } from './failure.ts'
import type { HttpApp } from './fastifyTypes.ts'
import { FixedWindows } from './fixedWindows.ts'
import { type SharedLimits, SharedWindows } from './sharedWindows.ts'

/** Most requests per window: of one key, and of one address that sends no key. 0 is no limit. */
export type RateLimit = { readonly perKeyMax: number; readonly perIpMax: number }

export type RateLimitOptions = {
  readonly windowMs: number
  /** Limits by class. Routes name their class in `config.rateLimitClass`; each class counts each caller separately. */
  readonly classes: Readonly<Record<string, RateLimit>>
  /** Class of routes that name none, and of unknown URLs. */
  readonly defaultClass: string
  /** Wrong keys per network and minute before 429; 0 is off. Counted by `registerApiKeys`. */
  readonly failedKeysPerMinuteMax: number
  /** Shared counter of several processes. Absent: each process counts for itself. */
  readonly shared?: SharedLimits
}

/** Refuses a request above its caller's limit with 429; sets the `x-ratelimit-*` headers. */
export type Limiter = ReturnType<HttpApp['rateLimit']>

/** Counts one more against the caller of a request. @returns false above its limit */
export type CountOnce = (request: FastifyRequest) => Promise<boolean>

export type Limiters = {
  /** `undefined` for a class without limits, so that its routes get no hook. */
  find(className: string): Limiter | undefined
  /** Counts events that are not HTTP requests, such as websocket messages, together with the class's requests. */
  counterOf(className: string): CountOnce
}

/**
 * Makes the rate limiters of all classes. A caller is the key of a request, or else its address (of IPv6 the /64). Windows
 * are fixed and begin with the caller's first request. Limits apply before the body is read.
 * @throws Error from the returned functions for a class that is not configured
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
  const findClass = (className: string) => {
    if (!classes.has(className)) throw new Error(`no rate limit class is named ${className}`)
    return classes.get(className)
  }
  return {
    find: (className) => findClass(className)?.limiter,
    counterOf: (className) => findClass(className)?.count ?? (async () => true),
  }
}

/** Class of the store; the plugin constructs it without arguments, so the shared limits are bound here. */
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
  // Both limiters have one `bucket` and one function `maxOf`, which makes the stores count them together.
  const limitOptions = {
    bucket,
    timeWindow: windowMs,
    max: maxOf,
    keyGenerator: callerOf,
    allowList: (request: FastifyRequest) => maxOf(request) === 0,
  }
  const countRequest = app.createRateLimit(limitOptions)
  const limiter = app.rateLimit({
    ...limitOptions,
    errorResponseBuilder: (_request, { ttl }) =>
      new RequestFailure('rate_limited', 'Rate limit exceeded.', { retryAfterSeconds: ttl / 1000 }),
  })
  return {
    limiter,
    async count(request) {
      const usage = await countRequest(request)
      return usage.isAllowed || !usage.isExceeded
    },
  }
}

/** Identity of a request's caller for limits: its key id, or else its network. */
export function callerOf(request: Pick<FastifyRequest, 'apiKey' | 'ip'>): string {
  return request.apiKey === null ? `ip ${networkOf(request.ip)}` : `key ${request.apiKey.keyId}`
}

/** The address for IPv4, the /64 for IPv6: providers give each subscriber at least a /64. */
export function networkOf(ip: string): string {
  const [withoutZone = ip] = ip.split('%', 1)
  return normalizeIP(withoutZone, 64)
}

/**
 * onRoute hook that puts each route into its class; exempt paths, preflights and class `false` have none. The
 * limiter runs after the app's own onRequest hooks, which have set `apiKey` by then.
 */
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
