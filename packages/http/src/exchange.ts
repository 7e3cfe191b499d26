import type { ServerResponse } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { FailureAnswer } from './describeFailure.ts'
import { RequestFailure } from './failure.ts'
import type { ServerSpan } from './tracing.ts'

/** Failure that a request was answered with, and the error that caused it. */
export type AnsweredFailure = { readonly error: unknown; readonly failure: FailureAnswer }

/** Lets a request wait for news (long polling). `Holding` implements it; the interface avoids an import cycle. */
export interface HeldRequests {
  hold(exchange: Exchange, waitMs: number, wait: (signal: AbortSignal) => Promise<void>): Promise<void>
}

export type Exemption = 'liveness' | 'documentation'

/**
 * Kind of exemption of a request from rate limits and work slots: `/`, `/documentation` with its subpaths and
 * `/lives/*`, whether they exist or not. A route is judged by its pattern, which no caller can choose. The
 * URL counts only when it matches no route, so that no spelling of a URL frees a route from its limit.
 * @source rule O-limits-02
 */
export function exemptionOf(request: FastifyRequest): Exemption | undefined {
  return exemptionOfPath(request.is404 ? request.url : (request.routeOptions.url ?? ''))
}

/** @param url a route's pattern, or the URL of a request that no route matches */
export function exemptionOfPath(url: string): Exemption | undefined {
  if (url.startsWith('/lives/')) return 'liveness'
  const end = url.search(/[?#]/)
  const path = end === -1 ? url : url.slice(0, end)
  return path === '/' || path === '/documentation' || path.startsWith('/documentation/')
    ? 'documentation'
    : undefined
}

/** A body that arrives faster than this does not restart the handler's timer. */
const quickBodyMs = 100

/**
 * One request with its answer, from its headers to the end of the answer: its slot, its time limit, and what its log
 * line and span need. `registerTraffic` makes one for each request of the public listener.
 *
 * Its time limit runs from the start, anew after a slow body and after each wait for news, until `settle`. An
 * answer that has begun does not stop it: one that is still being made when the time is over is cut off.
 * `settle` comes when the answer is sent or the connection is gone, from several callers, and calls `onEnded`
 * once.
 *
 * Fastify's own `handlerTimeout` is not used, because it keeps running while a handler waits for news.
 */
export class Exchange {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly exemption: Exemption | undefined
  readonly startedAtMs: number
  readonly holding: HeldRequests
  /** Time that the request has waited for news so far. */
  heldMs = 0
  /** Slot that the request occupies now; undefined while it has none. Written by `Slots` alone. */
  slot: Slot | undefined = undefined
  failed: AnsweredFailure | undefined = undefined
  span: ServerSpan | undefined = undefined
  /** True once the time limit was reached before `settle`; an answer is then no progress. */
  isLate = false
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

  /** True once the request is settled: its metrics and log line are written. */
  get isEnded(): boolean {
    return this.#isEnded
  }

  get raw(): ServerResponse {
    return this.reply.raw
  }

  /** Gives the handler its whole time after a slow body. */
  bodyArrived(nowMs: number): void {
    if (nowMs - this.startedAtMs > quickBodyMs) this.restartTimer()
  }

  restartTimer(): void {
    this.#timer.refresh()
  }

  /** Stops the time limit while the handler waits for news. */
  holdTimer(nowMs: number): void {
    clearTimeout(this.#timer)
    this.#heldSinceMs = nowMs
  }

  resumeTimer(nowMs: number): void {
    this.#countHeld(nowMs)
    if (!this.#isEnded) this.#timer = setTimeout(answerLate, this.#handlerTimeoutMs, this)
  }

  #countHeld(nowMs: number): void {
    this.heldMs += nowMs - (this.#heldSinceMs ?? nowMs)
    this.#heldSinceMs = undefined
  }

  /** Called when the answer is sent or the connection is gone. Aborts the handler of a caller that left. */
  settle(): void {
    if (this.#isEnded) return
    this.#isEnded = true
    clearTimeout(this.#timer)
    this.#countHeld(performance.now())
    if (!this.raw.writableEnded) this.request.abortController?.abort(new Error('the caller went away'))
    this.#onEnded(this)
  }

  upgraded(): void {
    this.isUpgraded = true
    this.settle()
  }

  /** Refuses the request for its late body, and closes the connection, on which the rest of the body may still come. */
  refuseLateBody(): void {
    if (this.reply.sent) return
    this.reply.header('connection', 'close')
    this.reply.send(new RequestFailure('request_late', 'The request body took too long to arrive.'))
  }
}

/** Timer callback: answers 503 in place of a late handler, which is told through `request.cancellation`. */
function answerLate(exchange: Exchange): void {
  const { request, reply } = exchange
  // A body that is still arriving has the server's `requestTimeoutMs`; the handler's time has not begun.
  if (exchange.slot === 'body' && !request.raw.complete) {
    exchange.restartTimer()
    return
  }
  const failure = new RequestFailure('timed_out', 'The request took too long.', { retryAfterSeconds: 1 })
  exchange.isLate = true
  request.abortController?.abort(failure)
  if (reply.sent) return
  // An answer that has begun cannot become a 503 any more, so its connection is cut.
  if (reply.raw.headersSent) reply.raw.destroy(failure)
  else reply.send(failure)
}

/** Pool in which a request occupies a slot: bodies that are arriving, handlers at work, or exempt pages. */
export type Slot = 'body' | 'work' | 'documentation'

/** Full pool that caused a refusal. For `body` mostly an older request is refused, not the new one. */
export const shedReasons = ['body', 'work', 'documentation'] as const satisfies readonly Slot[]
export type ShedBecause = (typeof shedReasons)[number]

export type SlotLimits = {
  /** Handlers at work at the same time; one more request is refused immediately, never queued. */
  readonly inFlightMax: number
  /** Answers of exempt pages that are made or sent at the same time. */
  readonly documentationMax: number
  /** Bodies that arrive at the same time; for one more the oldest is refused. */
  readonly bodiesArrivingMax: number
  /** Requests that wait for news at the same time; for one more the oldest wait ends and is answered. */
  readonly heldMax: number
}

/**
 * Detects handlers that begin and never end. A handler that answers in time, or whose caller left, is progress; an
 * answer by the time limit is not. Times are from `performance.now()`.
 */
export class Progress {
  #workingCount = 0
  /** Time of the last progress, or of the first request after an idle period. */
  #lastProgressMs = 0

  get workingCount(): number {
    return this.#workingCount
  }

  begin(nowMs: number): void {
    if (this.#workingCount === 0) this.#lastProgressMs = nowMs
    this.#workingCount += 1
  }

  end(nowMs: number, isLate: boolean): void {
    this.#workingCount -= 1
    if (!isLate) this.#lastProgressMs = nowMs
  }

  /** True when requests are in work and none has ended in time for longer than `limitMs`. */
  isStuck(nowMs: number, limitMs: number): boolean {
    return this.#workingCount > 0 && nowMs - this.#lastProgressMs > limitMs
  }
}

/**
 * The slots of one app. A request with a body first occupies a `body` slot, then a `work` slot from the moment that it
 * is complete until its answer is ready. So neither a slow body nor an answer that the client does not read blocks work.
 *
 * Calls for one request, in order: `begin`; `bodyArrived`; `hold` and `resume` around each wait; `answered`,
 * before the answer is sent; `ended`, which may come at any time, because callers leave. Requests for
 * liveness, held ones and answered ones occupy no slot.
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

  /** Moves a request from its `body` slot to a `work` slot. @returns why it is refused, if all of those are taken */
  bodyArrived(exchange: Exchange): RequestFailure | undefined {
    if (exchange.slot !== 'body') return undefined
    this.#leave(exchange)
    return this.#takeWork(exchange)
  }

  /** Frees the slot when the answer is ready to send. A page is streamed, so it keeps its slot until it is sent. */
  answered(exchange: Exchange): void {
    if (exchange.slot !== 'documentation') this.#leave(exchange)
  }

  ended(exchange: Exchange): void {
    this.#leave(exchange)
  }

  /** Frees the slot while a request waits for news. */
  hold(exchange: Exchange): void {
    const nowMs = performance.now()
    exchange.holdTimer(nowMs)
    // Passed as late, because beginning to wait is no progress.
    if (exchange.slot === 'work') this.progress.end(nowMs, true)
    exchange.slot = undefined
  }

  /** Takes a `work` slot after the wait, even above the limit: at most `heldMax` requests wait. */
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

  /**
   * Takes a `body` slot. While no `work` slot is free, the request is refused before its body is read. If no
   * `body` slot is free, the oldest incomplete body is refused: bodies of honest clients arrive fast.
   */
  #awaitBody(exchange: Exchange): RequestFailure | undefined {
    if (this.progress.workingCount >= this.#limits.inFlightMax) return this.#shed('work')
    if (this.#arriving.size >= this.#limits.bodiesArrivingMax) {
      const refusal = this.#shed('body')
      const oldest = findIncomplete(this.#arriving)
      // All bodies have just arrived in full.
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

/** @returns the oldest request whose body has not arrived completely */
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
