import type { FastifyRequest } from 'fastify'
import type { Connections } from './connections.ts'
import { Exchange, exemptionOf, type SlotLimits, Slots } from './exchange.ts'
import type { HttpApp } from './fastifyTypes.ts'
import { Holding } from './holding.ts'
import type { HttpMetrics } from './metrics.ts'
import type { Readiness } from './readiness.ts'
import { tellRequest } from './requestLine.ts'

export type TrafficOptions = {
  readonly slots: SlotLimits
  /** Time a handler has, unless its route says otherwise in `config.handlerTimeoutMs`. */
  readonly handlerTimeoutMs: number
  readonly connections: Connections
  readonly metrics: HttpMetrics
  readonly readiness: Readiness
  readonly onKeyedAnswer: ((answer: KeyedAnswer) => void) | undefined
}

/** Answer to a request with a key. The service bounds the length and the number of values of every member. */
export type KeyedAnswer = {
  /** Public part of the key. */
  readonly keyId: string
  /** The route's pattern; `undefined` for an unknown URL. */
  readonly route: string | undefined
  readonly statusCode: number
  /** Error code of a refusal. */
  readonly errorCode: string | undefined
}

/** Beyond the longest time that a handler has: then something is broken that no time limit ends. */
const stuckMarginMs = 5_000

/**
 * Counts, times and bounds what is in flight, whether the caller stays for the answer or not, and makes
 * the service not ready when nothing of it ends.
 * @source rules O-165, O-167
 */
export function registerTraffic(app: HttpApp, options: TrafficOptions): void {
  const { handlerTimeoutMs, connections, metrics, readiness } = options
  const slots = new Slots(options.slots, metrics.countShed)
  const holding = new Holding(slots, readiness, options.slots)
  connections.onClosed = metrics.countClosed
  metrics.watchTraffic({
    inFlight: () => slots.progress.workingCount,
    bodiesArriving: () => slots.arrivingCount,
    connections: () => connections.openCount,
    held: () => holding.heldCount,
  })
  watchProgress(app, readiness, slots, handlerTimeoutMs)
  decorateRequests(app)
  const onEnded = (exchange: Exchange) => {
    const { request, raw, startedAtMs, heldMs } = exchange
    slots.ended(exchange)
    connections.remove(request.raw.socket, exchange)
    const end = { statusCode: statusOf(exchange), seconds: (performance.now() - startedAtMs - heldMs) / 1000 }
    metrics.observeRequest({ route: request.routeOptions.url, method: request.method, ...end })
    tellRequest(exchange, end)
    if (options.onKeyedAnswer !== undefined && request.apiKey !== null && raw.writableEnded)
      options.onKeyedAnswer({
        keyId: request.apiKey.keyId,
        route: request.routeOptions.url,
        statusCode: raw.statusCode,
        errorCode: request.errorCode ?? undefined,
      })
  }
  app.addHook('onRequest', (request, reply, done) => {
    const exchange = new Exchange({
      request,
      reply,
      exemption: exemptionOf(request),
      holding,
      handlerTimeoutMs: request.routeOptions.config?.handlerTimeoutMs ?? handlerTimeoutMs,
      nowMs: performance.now(),
      onEnded,
    })
    if (!connections.add(request.raw.socket, exchange)) {
      // Nobody is there to be answered.
      exchange.settle()
      reply.hijack()
      return
    }
    request.exchange = exchange
    // Comes once, after the answer or when the caller aborts, but not for every answer that waits for
    // another on the same socket; `finish` may not come either.
    reply.raw.on('close', () => exchange.settle())
    done(slots.begin(exchange))
  })
  app.addHook('onSend', ({ exchange }, _reply, _payload, done) => {
    if (exchange !== null) slots.answered(exchange)
    done()
  })
  // The first hook that runs when a body is there.
  app.addHook('preValidation', ({ exchange }, _reply, done) => {
    if (exchange?.slot !== 'body') return done()
    exchange.bodyArrived(performance.now())
    done(slots.bodyArrived(exchange))
  })
}

/** As metrics and lines name it: 499 when the caller went away before the answer. */
function statusOf({ isUpgraded, raw }: Exchange): number {
  if (isUpgraded) return 101
  return raw.writableEnded ? raw.statusCode : 499
}

/** Not ready while requests are in work and none ends; a time limit that answers is no end. */
function watchProgress(app: HttpApp, readiness: Readiness, slots: Slots, handlerTimeoutMs: number): void {
  let longestTimeoutMs = handlerTimeoutMs
  app.addHook('onRoute', ({ config }) => {
    longestTimeoutMs = Math.max(longestTimeoutMs, config?.handlerTimeoutMs ?? 0)
  })
  readiness.addCheck({
    name: 'requests',
    async check() {
      if (slots.progress.isStuck(performance.now(), longestTimeoutMs + stuckMarginMs))
        throw new Error('requests are in work and none is answered in time')
    },
  })
}

function decorateRequests(app: HttpApp): void {
  app.decorateRequest('abortController', null)
  app.decorateRequest('cancellation', {
    getter(this: FastifyRequest) {
      this.abortController ??= new AbortController()
      return this.abortController.signal
    },
  })
}
