import type { FastifyRequest } from 'fastify'
import { levels } from 'pino'
import type { Exchange } from './exchange.ts'
import type { HttpApp } from './fastifyTypes.ts'
import { type RequestSubject, subjectOf } from './requestSubject.ts'
import type { SpanAttributes, Tracing } from './tracing.ts'

/** Outcome of a request for its log line and span. `seconds`: without the time that it waited for news. */
export type RequestEnd = { readonly statusCode: number; readonly seconds: number }

/** Tracing of requests, and the callers whose `traceparent` is accepted: others could force a trace of every request. */
export type TracedRequests = {
  readonly tracing: Tracing
  /** True for the key scopes of a service that this operator runs or trusts as much. */
  readonly mayJoin: (scopes: ReadonlySet<string>) => boolean
}

/**
 * Adds the hook that begins a span for each request that reaches its handler. Requests that are refused for
 * their key, rate or slow body get none, so that a flood of them cannot fill the queue of spans. It comes
 * after `registerTraffic`, whose hooks make the exchange and may refuse the request.
 */
export function registerSpans(app: HttpApp, { tracing, mayJoin }: TracedRequests): void {
  // After the body has arrived: reading a body loses the async context in which the span runs.
  app.addHook('preValidation', (request, _reply, done) => {
    const { exchange, apiKey, routeOptions } = request
    if (exchange === null || exchange.exemption !== undefined) return done()
    const parent = request.headers['traceparent']
    const isJoining = typeof parent === 'string' && apiKey !== null && mayJoin(apiKey.scopes)
    const name = `${request.method} ${routeOptions.url ?? 'unmatched'}`
    const span = tracing.startRequest(name, isJoining ? parent : undefined, exchange.startedAtMs)
    if (span.traceId !== undefined) exchange.span = span
    span.run(done)
  })
}

/** Ends the span of a request and writes its log line. `registerTraffic` calls it once per request. */
export function recordRequestEnd(exchange: Exchange, end: RequestEnd): void {
  const { request } = exchange
  const highestLevel = levelOf(exchange, end)
  // Saves reading ids from the request: most requests have neither a span nor a line.
  if (exchange.span === undefined && !isWritten(request, highestLevel)) return
  const subject = subjectOf(request)
  // A success without key and without ids is nothing that an operator searches for, and is the bulk of all answers.
  const isSearched = end.statusCode >= 400 || request.apiKey !== null || Object.keys(subject).length > 0
  const level = isSearched ? highestLevel : 'debug'
  exchange.span?.end(attributesOf(request, subject, end), end.statusCode >= 500)
  if (isWritten(request, level)) writeLine(level, exchange, subject, end)
}

type Level = 'error' | 'warn' | 'info' | 'debug'

/** True if the log is configured to write lines of this level; `silent` has no number and writes none. */
const isWritten = ({ log }: FastifyRequest, level: Level): boolean =>
  (levels.values[log.level] ?? Number.POSITIVE_INFINITY) <= (levels.values[level] ?? 0)

function levelOf({ failed, exemption }: Exchange, { statusCode }: RequestEnd): Level {
  if (failed?.failure.isBug === true) return 'error'
  if (statusCode >= 500) return 'warn'
  // A flood of refusals must not become a flood of lines; metrics count them. Liveness probes are of no interest either.
  return statusCode === 429 || exemption !== undefined ? 'debug' : 'info'
}

function writeLine(level: Level, exchange: Exchange, subject: RequestSubject, end: RequestEnd): void {
  const { request, failed, span } = exchange
  const { apiKey } = request
  const line = {
    event: 'request',
    method: request.method,
    route: request.routeOptions.url,
    statusCode: end.statusCode,
    // With two decimals.
    milliseconds: Math.round(end.seconds * 1e5) / 100,
    heldMilliseconds: exchange.heldMs > 0 ? Math.round(exchange.heldMs) : undefined,
    clientRequestId: request.clientRequestId ?? undefined,
    ...subject,
    keyId: apiKey?.keyId,
    apiKeyLabel: apiKey === null ? undefined : printable(apiKey.label),
    errorCode: request.errorCode ?? undefined,
    traceId: span?.traceId,
    err: level === 'error' || level === 'warn' ? failed?.error : undefined,
  }
  request.log[level](line, textOf(level, end.statusCode))
}

function textOf(level: Level, statusCode: number): string {
  if (level === 'error') return 'request failed unexpectedly'
  if (level === 'warn') return 'request could not be served'
  if (statusCode === 429) return 'request limited'
  if (statusCode === 499) return 'caller went away'
  return statusCode >= 400 ? 'request refused' : 'request answered'
}

function attributesOf(
  request: FastifyRequest,
  { requestId, orderId, transactionHash, item }: RequestSubject,
  { statusCode }: RequestEnd,
): SpanAttributes {
  return {
    'http.request.method': request.method,
    'http.response.status_code': statusCode,
    'causeway.http_request_id': request.id,
    ...(request.routeOptions.url !== undefined && { 'http.route': request.routeOptions.url }),
    ...(request.errorCode !== null && { 'error.type': request.errorCode }),
    ...(request.apiKey !== null && { 'causeway.key_id': request.apiKey.keyId }),
    ...(requestId !== undefined && { 'causeway.request_id': requestId }),
    ...(orderId !== undefined && { 'causeway.order_id': orderId }),
    ...(transactionHash !== undefined && { 'causeway.transaction_hash': transactionHash }),
    ...(item !== undefined && { 'causeway.item': item }),
  }
}

const labelLengthMax = 64

/** Cuts a key's label, and replaces characters that would move text around on a screen. */
function printable(label: string): string {
  return label.slice(0, labelLengthMax).replace(/[\p{C}\p{Zl}\p{Zp}]/gu, '?')
}
