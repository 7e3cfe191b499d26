import type { FastifyRequest } from 'fastify'
import type { Connections } from './connections.ts'
import { Exchange, exemptionOf, type SlotLimits, Slots } from './exchange.ts'
import type { HttpApp } from './fastifyTypes.ts'
import { Holding } from './holding.ts'
import type { HttpMetrics } from './metrics.ts'
import type { Readiness } from './readiness.ts'
import { recordRequestEnd } from './requestLine.ts'

export type TrafficOptions = {
  readonly slots: SlotLimits
  /** Time a handler has, unless its route says otherwise in `config.handlerTimeoutMs`. */
  readonly handlerTimeoutMs: number
  readonly connections: Connections
  readonly metrics: HttpMetrics
  readonly readiness: Readiness
  /** Called after each answer to a request with a key was sent. */
  readonly onKeyedAnswer: ((answer: KeyedAnswer) => void) | undefined
}

/** An answer to a request with a key, as usage records count it. All members are from closed sets or short. */
export type KeyedAnswer = {
  /** Public part of the key. */
  readonly keyId: string
  /** The route's pattern; `undefined` for an unknown URL. */
  readonly route: string | undefined
  readonly statusCode: number
  /** Error code of a refusal. */
  readonly errorCode: string | undefined
}

/**
 * Margin above the longest time limit of a handler. If no request is answered for both together, the time
 * limits themselves do not work, and the service reports that it is not ready.
 */
const stuckMarginMs = 5_000

/**
 * Adds the accounting of requests to the public listener: makes an `Exchange` for each request, refuses
 * requests above the limits of slots, and writes metrics, log line and span when a request ends, even if its
 * caller left. Makes the service not ready when no handler ends. Its hooks come before those that check keys
 * or rates, so that their refusals are counted too.
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
  // `settle` calls it once for each exchange, whichever event settles it first.
  const onEnded = (exchange: Exchange) => {
    const { request, raw, startedAtMs, heldMs } = exchange
    slots.ended(exchange)
    connections.remove(request.raw.socket, exchange)
    const end = { statusCode: statusOf(exchange), seconds: (performance.now() - startedAtMs - heldMs) / 1000 }
    metrics.observeRequest({ route: request.routeOptions.url, method: request.method, ...end })
    recordRequestEnd(exchange, end)
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
      // The connection is closed, so no answer is sent: `hijack` stops Fastify.
      exchange.settle()
      reply.hijack()
      return
    }
    request.exchange = exchange
    // `close` comes once, after the answer or when the caller aborts. An answer that waits behind another on the same
    // socket may get neither `close` nor `finish`; `Connections` settles it when the socket closes.
    reply.raw.on('close', () => exchange.settle())
    done(slots.begin(exchange))
  })
  // The answer is ready, so its slot is freed before it is sent; a streamed page keeps its slot.
  app.addHook('onSend', ({ exchange }, _reply, _payload, done) => {
    if (exchange !== null) slots.answered(exchange)
    done()
  })
  // `preValidation` is the first hook after the body has arrived.
  app.addHook('preValidation', ({ exchange }, _reply, done) => {
    if (exchange?.slot !== 'body') return done()
    exchange.bodyArrived(performance.now())
    done(slots.bodyArrived(exchange))
  })
}

/** Status for metrics and logs: 499 if the caller left before the answer, 101 for a websocket. */
function statusOf({ isUpgraded, raw }: Exchange): number {
  if (isUpgraded) return 101
  return raw.writableEnded ? raw.statusCode : 499
}

/** Adds the readiness check that fails while handlers are at work and none ends in time. */
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
