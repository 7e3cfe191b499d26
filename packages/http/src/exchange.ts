import type { ServerResponse } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { FailureAnswer } from './describeFailure.ts'
import { RequestFailure } from './failure.ts'
import type { ServerSpan } from './tracing.ts'

/** Failure that was answered in place of the handler's answer, with its cause. */
export type RequestFailed = { readonly error: unknown; readonly failure: FailureAnswer }

/** Requests that wait for news, as `Holding` has them. */
export interface HeldRequests {
  hold(exchange: Exchange, waitMs: number, wait: (signal: AbortSignal) => Promise<void>): Promise<void>
}

export type Exemption = 'liveness' | 'documentation'

/**
 * Paths exempt from limits: `/`, `/documentation` with its subpaths and `/lives/*`, whether they exist or not. A route
 * is known by its own pattern, which no caller can choose; the written path is only used when it leads to no route, so
 * that no spelling frees a route from its limit.
 * @source attestation-oracle.md, Limits and defaults
 */
export function exemptionOf(request: FastifyRequest): Exemption | undefined {
  return exemptionOfPath(request.is404 ? request.url : (request.routeOptions.url ?? ''))
}

/** By a route's pattern, or by the URL of a request that no route matches. */
export function exemptionOfPath(url: string): Exemption | undefined {
  if (url.startsWith('/lives/')) return 'liveness'
  const end = url.search(/[?#]/)
  const path = end === -1 ? url : url.slice(0, end)
  return path === '/' || path === '/documentation' || path.startsWith('/documentation/')
    ? 'documentation'
    : undefined
}

/** A body that was there sooner leaves its handler the time that it has. */
const quickBodyMs = 100

/**
 * One request with its answer, and the time that its handler has.
 *
 * Fastify's own `handlerTimeout` is not used: it runs on while a handler waits for news.
 */
export class Exchange {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly exemption: Exemption | undefined
  readonly startedAtMs: number
  /** Holder of the request while it waits for news. */
  readonly holding: HeldRequests
  /** Time that it waited for news. */
  heldMs = 0
  /** Slot that the request holds now. */
  slot: Slot | undefined = undefined
  /** Failure, if the answer is an error. */
  failed: RequestFailed | undefined = undefined
  /** Span, if the request is traced. */
  span: ServerSpan | undefined = undefined
  /** True once its time limit answered in place of its handler. */
  isLate = false
  /** True once its connection belongs to a websocket. */
  isUpgraded = false
  readonly #onEnded: (exchange: Exchange) => void
  readonly #handlerTimeoutMs: number
  #timer: NodeJS.Timeout
  #heldSinceMs: number | undefined
  #isEnded = false

  constructor(options: {
    request: FastifyRequest
    reply: FastifyReply
    exemption: Exemption | undefined
    holding: HeldRequests
    handlerTimeoutMs: number
    nowMs: number
    onEnded: (exchange: Exchange) => void
  }) {
    this.request = options.request
    this.reply = options.reply
    this.exemption = options.exemption
    this.startedAtMs = options.nowMs
    this.holding = options.holding
    this.#onEnded = options.onEnded
    this.#handlerTimeoutMs = options.handlerTimeoutMs
    this.#timer = setTimeout(answerLate, options.handlerTimeoutMs, this)
  }

  /** True once its line is written. */
  get isEnded(): boolean {
    return this.#isEnded
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

  /** Its handler waits for news, and its time does not run. */
  holdTimer(nowMs: number): void {
    clearTimeout(this.#timer)
    this.#heldSinceMs = nowMs
  }

  /** The handler works again, and has all of its time. */
  resumeTimer(nowMs: number): void {
    this.#countHeld(nowMs)
    if (!this.#isEnded) this.#timer = setTimeout(answerLate, this.#handlerTimeoutMs, this)
  }

  #countHeld(nowMs: number): void {
    this.heldMs += nowMs - (this.#heldSinceMs ?? nowMs)
    this.#heldSinceMs = undefined
  }

  /** The answer is sent, or its connection is gone. */
  settle(): void {
    if (this.#isEnded) return
    this.#isEnded = true
    clearTimeout(this.#timer)
    this.#countHeld(performance.now())
    if (!this.raw.writableEnded) this.request.abortController?.abort(new Error('the caller went away'))
    this.#onEnded(this)
  }

  /** The connection goes on without it: nothing of it is in work any more. */
  upgraded(): void {
    this.isUpgraded = true
    this.settle()
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

/** Pool that a request takes a place of: request bodies in transit, work, or exempt pages. */
export type Slot = 'body' | 'work' | 'documentation'

/** Exhausted pool that caused a refusal. For `body` the oldest body in transit was refused. */
export const shedReasons = ['body', 'work', 'documentation'] as const satisfies readonly Slot[]
export type ShedBecause = (typeof shedReasons)[number]

export type SlotLimits = {
  /** Requests worked on at once; one more is refused at once, never queued. */
  readonly inFlightMax: number
  /** Answers of the exempt pages that are made or sent at once. */
  readonly documentationMax: number
  /** Requests whose bodies are on the way at once; for one more the oldest is cut. */
  readonly bodiesArrivingMax: number
  /** Requests that wait for news at once; for one more the oldest is answered. */
  readonly heldMax: number
}

/**
 * Detects work that begins and never ends. An answer in time or a caller that left is progress; an answer by the time
 * limit is not. Times in milliseconds of one clock.
 */
export class Progress {
  #workingCount = 0
  /** Time of the last progress, or of the first request after nothing was in work. */
  #sinceMs = 0

  get workingCount(): number {
    return this.#workingCount
  }

  begin(nowMs: number): void {
    if (this.#workingCount === 0) this.#sinceMs = nowMs
    this.#workingCount += 1
  }

  end(nowMs: number, isLate: boolean): void {
    this.#workingCount -= 1
    if (!isLate) this.#sinceMs = nowMs
  }

  /** True when requests are in work and none has ended in time for longer than `limitMs`. */
  isStuck(nowMs: number, limitMs: number): boolean {
    return this.#workingCount > 0 && nowMs - this.#sinceMs > limitMs
  }
}

/**
 * The bounded places of one app. A place for work is held from the moment that a request is complete
 * until its answer is ready: neither a body that is late nor an answer that is not read holds one.
 */
export class Slots {
  readonly progress = new Progress()
  readonly #limits: SlotLimits
  readonly #onShed: (reason: ShedBecause) => void
  readonly #arriving = new Set<Exchange>()
  #documentationCount = 0

  constructor(limits: SlotLimits, onShed: (reason: ShedBecause) => void) {
    this.#limits = limits
    this.#onShed = onShed
  }

  get arrivingCount(): number {
    return this.#arriving.size
  }

  /** @returns why the request is refused */
  begin(exchange: Exchange): RequestFailure | undefined {
    if (exchange.exemption === 'liveness') return undefined
    if (exchange.exemption === 'documentation') return this.#takeDocumentation(exchange)
    return hasBody(exchange.request) ? this.#awaitBody(exchange) : this.#takeWork(exchange)
  }

  /** @returns why the request is refused although all of it is there */
  bodyArrived(exchange: Exchange): RequestFailure | undefined {
    if (exchange.slot !== 'body') return undefined
    this.#leave(exchange)
    return this.#takeWork(exchange)
  }

  /** The answer is ready: what is left is its client's to take. Pages are sent in parts, so they stay. */
  answered(exchange: Exchange): void {
    if (exchange.slot !== 'documentation') this.#leave(exchange)
  }

  ended(exchange: Exchange): void {
    this.#leave(exchange)
  }

  /** It waits for news in place of being worked on, which is neither progress nor the lack of it. */
  hold(exchange: Exchange): void {
    const nowMs = performance.now()
    exchange.holdTimer(nowMs)
    if (exchange.slot === 'work') this.progress.end(nowMs, true)
    exchange.slot = undefined
  }

  /** Never refuses: waiting requests are few, and each of them gets its answer. */
  resume(exchange: Exchange): void {
    const nowMs = performance.now()
    exchange.resumeTimer(nowMs)
    if (exchange.isEnded) return
    exchange.slot = 'work'
    this.progress.begin(nowMs)
  }

  #takeWork(exchange: Exchange): RequestFailure | undefined {
    if (this.progress.workingCount >= this.#limits.inFlightMax) return this.#shed('work')
    exchange.slot = 'work'
    this.progress.begin(performance.now())
    return undefined
  }

  #takeDocumentation(exchange: Exchange): RequestFailure | undefined {
    if (this.#documentationCount >= this.#limits.documentationMax) return this.#shed('documentation')
    exchange.slot = 'documentation'
    this.#documentationCount += 1
    return undefined
  }

  /** Bodies of honest clients arrive in no time, so the one that is on its way the longest is cut. */
  #awaitBody(exchange: Exchange): RequestFailure | undefined {
    if (this.progress.workingCount >= this.#limits.inFlightMax) return this.#shed('work')
    if (this.#arriving.size >= this.#limits.bodiesArrivingMax) {
      const refusal = this.#shed('body')
      const oldest = findIncomplete(this.#arriving)
      if (oldest === undefined) return refusal
      this.#leave(oldest)
      oldest.refuseLateBody()
    }
    exchange.slot = 'body'
    this.#arriving.add(exchange)
    return undefined
  }

  #leave(exchange: Exchange): void {
    const { slot } = exchange
    exchange.slot = undefined
    if (slot === 'body') this.#arriving.delete(exchange)
    if (slot === 'work') this.progress.end(performance.now(), exchange.isLate)
    if (slot === 'documentation') this.#documentationCount -= 1
  }

  #shed(reason: ShedBecause): RequestFailure {
    this.#onShed(reason)
    return new RequestFailure('overloaded', 'The service is overloaded.', { retryAfterSeconds: 1 })
  }
}

/** In the order of their start. */
function findIncomplete(exchanges: Iterable<Exchange>): Exchange | undefined {
  for (const exchange of exchanges) if (!exchange.request.raw.complete) return exchange
  return undefined
}

/** Fastify reads no body of a GET. */
function hasBody({ method, headers }: FastifyRequest): boolean {
  if (method === 'GET') return false
  const length = headers['content-length']
  return (length !== undefined && length !== '0') || headers['transfer-encoding'] !== undefined
}
