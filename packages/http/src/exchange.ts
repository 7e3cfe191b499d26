import type { ServerResponse } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Exemption } from './exemption.ts'
import { RequestFailure } from './failure.ts'
import type { Slot } from './slots.ts'

/** A body that was there sooner leaves its handler the time that it has. */
const quickBodyMs = 100

/**
 * One request with its answer, and the time that its handler has.
 *
 * Fastify's own `handlerTimeout` and `request.signal` are not used: on Node 20 a request with a body
 * counts as closed once the body is read, so the signal aborts and the timeout disarms before the
 * handler has begun.
 */
export class Exchange {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly exemption: Exemption | undefined
  readonly startedAtMs: number
  /** What it holds now. */
  slot: Slot | undefined = undefined
  /** True once its time limit answered in place of its handler. */
  isLate = false
  readonly #onEnded: (exchange: Exchange) => void
  readonly #timer: NodeJS.Timeout
  #isEnded = false

  constructor(options: {
    request: FastifyRequest
    reply: FastifyReply
    exemption: Exemption | undefined
    handlerTimeoutMs: number
    nowMs: number
    onEnded: (exchange: Exchange) => void
  }) {
    this.request = options.request
    this.reply = options.reply
    this.exemption = options.exemption
    this.startedAtMs = options.nowMs
    this.#onEnded = options.onEnded
    this.#timer = setTimeout(answerLate, options.handlerTimeoutMs, this)
  }

  get raw(): ServerResponse {
    return this.reply.raw
  }

  /** A slow body takes nothing from the time of its handler. */
  bodyArrived(nowMs: number): void {
    if (nowMs - this.startedAtMs > quickBodyMs) this.restartTimer()
  }

  restartTimer(): void {
    this.#timer.refresh()
  }

  /** The answer is sent, or its connection is gone. */
  settle(): void {
    if (this.#isEnded) return
    this.#isEnded = true
    clearTimeout(this.#timer)
    if (!this.raw.writableEnded) this.request.abortController?.abort(new Error('the caller went away'))
    this.#onEnded(this)
  }

  /** Answers for a body that is late, and closes the connection that it may still come on. */
  refuseLateBody(): void {
    if (this.reply.sent) return
    this.reply.header('connection', 'close')
    this.reply.send(new RequestFailure('request_late', 'The request body took too long to arrive.'))
  }
}

/** Ends a request whose handler is late; the handler learns it from `request.cancellation`. */
function answerLate(exchange: Exchange): void {
  const { request, reply } = exchange
  // The body is its caller's to send, within the time that the server gives to a whole request.
  if (exchange.slot === 'body' && !request.raw.complete) {
    exchange.restartTimer()
    return
  }
  const failure = new RequestFailure('timed_out', 'The request took too long.', { retryAfterSeconds: 1 })
  exchange.isLate = true
  request.abortController?.abort(failure)
  if (reply.sent) return
  if (reply.raw.headersSent) reply.raw.destroy(failure)
  else reply.send(failure)
}
