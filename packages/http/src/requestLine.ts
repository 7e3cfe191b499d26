import type { FastifyRequest } from 'fastify'
import { levels } from 'pino'
import type { Exchange } from './exchange.ts'
import type { HttpApp } from './fastifyTypes.ts'
import { type RequestSubject, subjectOf } from './requestSubject.ts'
import type { SpanAttributes, Tracing } from './tracing.ts'

export type RequestEnd = { readonly statusCode: number; readonly seconds: number }

/** Whose `traceparent` is heard. Anybody else could have a service tell a trace of every request. */
export type TracedRequests = {
  readonly tracing: Tracing
  /** True for the scopes of a service that is run by the same operator, or by one that it trusts as much. */
  readonly mayJoin: (scopes: ReadonlySet<string>) => boolean
}

/**
 * Begins the span of each request that is going to be worked on: not of one that is refused for its key, its rate or
 * its body. So whoever floods the service fills no queue of spans.
 */
export function registerSpans(app: HttpApp, { tracing, mayJoin }: TracedRequests): void {
  // The body is there: what ran before it ran in another context.
  app.addHook('preValidation', (request, _reply, done) => {
    const { exchange, apiKey, routeOptions } = request
    if (exchange === null || exchange.exemption !== undefined) return done()
    const parent = request.headers['traceparent']
    const joins = typeof parent === 'string' && apiKey !== null && mayJoin(apiKey.scopes)
    const name = `${request.method} ${routeOptions.url ?? 'unmatched'}`
    const span = tracing.serve(name, joins ? parent : undefined, exchange.startedAtMs)
    if (span.traceId !== undefined) exchange.span = span
    span.run(done)
  })
}

/** Ends what tells of one request: its span and its one line. */
export function tellRequest(exchange: Exchange, end: RequestEnd): void {
  const { request } = exchange
  const loudest = levelOf(exchange, end)
  // Before anything is read of the request: most requests have neither a span nor a line.
  if (exchange.span === undefined && !isWritten(request, loudest)) return
  const subject = subjectOf(request)
  // An answer to nobody about nothing is never looked for, and is most of what a service answers.
  const isFound = end.statusCode >= 400 || request.apiKey !== null || Object.keys(subject).length > 0
  const level = isFound ? loudest : 'debug'
  exchange.span?.end(attributesOf(request, subject, end), end.statusCode >= 500)
  if (isWritten(request, level)) writeLine(level, exchange, subject, end)
}

type Level = 'error' | 'warn' | 'info' | 'debug'

const isWritten = ({ log }: FastifyRequest, level: Level): boolean =>
  (levels.values[log.level] ?? Number.POSITIVE_INFINITY) <= (levels.values[level] ?? 0)

function levelOf({ failed, exemption }: Exchange, { statusCode }: RequestEnd): Level {
  if (failed?.failure.isBug === true) return 'error'
  if (statusCode >= 500) return 'warn'
  // A flood of refusals must not become a flood of lines: metrics count them. Nor are probes anything to look for.
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

/** A label is written by an operator: what would move text around on a screen is not printed, nor is its rest. */
function printable(label: string): string {
  return label.slice(0, labelLengthMax).replace(/[\p{C}\p{Zl}\p{Zp}]/gu, '?')
}
