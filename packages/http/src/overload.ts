import type { FastifyReply, FastifyRequest } from 'fastify'
import { RequestFailure } from './failure.ts'
import type { HttpApp } from './fastifyTypes.ts'
import type { HttpMetrics } from './metrics.ts'

export type TrafficOptions = {
  /** Requests served at once; one more is refused at once, never queued. */
  readonly inFlightMax: number
  /** Time a handler has, unless its route says otherwise in `config.handlerTimeoutMs`. */
  readonly handlerTimeoutMs: number
  readonly metrics: HttpMetrics
}

/**
 * Counts, times and bounds what is in flight, whether the caller stays for the answer or not.
 *
 * Fastify's own `handlerTimeout` and `request.signal` are not used: on Node 20 a request with a body
 * counts as closed once the body is read, so the signal aborts and the timeout disarms before the
 * handler has begun.
 */
export function registerTraffic(app: HttpApp, options: TrafficOptions): void {
  const { inFlightMax, handlerTimeoutMs, metrics } = options
  const open = new Set<FastifyReply>()
  let isClosing = false
  metrics.watchInFlight(() => open.size)
  app.decorateRequest('abortController', null)
  app.decorateRequest('cancellation', {
    getter(this: FastifyRequest) {
      this.abortController ??= new AbortController()
      return this.abortController.signal
    },
  })
  app.addHook('onRequest', (request, reply, done) => {
    open.add(reply)
    const startedAt = performance.now()
    const timeoutMs = request.routeOptions.config?.handlerTimeoutMs ?? handlerTimeoutMs
    const timer = setTimeout(answerLate, timeoutMs, request, reply)
    // `close` comes exactly once, after the answer or when the caller aborts; `finish` may not.
    reply.raw.once('close', () => {
      open.delete(reply)
      clearTimeout(timer)
      if (isClosing) app.server.closeIdleConnections()
      const { writableEnded, statusCode } = reply.raw
      if (!writableEnded) request.abortController?.abort(new Error('the caller went away'))
      metrics.observeRequest({
        route: request.routeOptions.url,
        method: request.method,
        statusCode: writableEnded ? statusCode : 499,
        seconds: (performance.now() - startedAt) / 1000,
      })
    })
    if (open.size <= inFlightMax || isLiveness(request)) return done()
    metrics.countShed()
    done(new RequestFailure('overloaded', 'The service is overloaded.', { retryAfterSeconds: 1 }))
  })
  // Connections that are busy when the listener closes would be kept alive by their answers.
  app.addHook('preClose', async () => {
    isClosing = true
    for (const reply of open) if (!reply.raw.headersSent) reply.header('connection', 'close')
  })
}

/** Ends a request whose handler is late; the handler learns it from `request.cancellation`. */
function answerLate(request: FastifyRequest, reply: FastifyReply): void {
  const failure = new RequestFailure('timed_out', 'The request took too long.', { retryAfterSeconds: 1 })
  request.abortController?.abort(failure)
  if (reply.sent) return
  if (reply.raw.headersSent) reply.raw.destroy(failure)
  else reply.send(failure)
}

/** A process that sheds well must not be killed for it. */
function isLiveness(request: FastifyRequest): boolean {
  return request.routeOptions.url?.startsWith('/lives/') === true
}
