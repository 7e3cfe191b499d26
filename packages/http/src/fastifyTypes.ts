import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyBaseLogger, FastifyInstance, RawServerDefault } from 'fastify'
import type { ZodTypeProvider } from 'fastify-type-provider-zod'
import type { ApiKeyRecord } from './apiKeys.ts'
import type { Deprecation } from './deprecation.ts'
import type { Exchange } from './exchange.ts'
import type { RequestSubject } from './requestSubject.ts'

/** A route's own error codes by status, beside those that every route has. */
export type RouteErrors = Readonly<Record<number, readonly string[]>>

/** A Fastify instance whose routes take zod schemas. */
export type HttpApp = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  ZodTypeProvider
>

declare module 'fastify' {
  interface FastifySchema {
    /** Error codes of the route by status, for its description. */
    errors?: RouteErrors
  }
  interface FastifyContextConfig {
    /** Class of rate limits that requests of this route count in; `false` exempts it. Default: the app's default class. */
    rateLimitClass?: string | false
    /** True: the key may stand in the query as `apiKey`. */
    apiKeyInQuery?: boolean
    deprecation?: Deprecation
    /** True: a file that holds no secret, which the admin listener hands out without its key. */
    isPage?: boolean
    /** Time this route's handler has before 503; default: the app's. */
    handlerTimeoutMs?: number
  }
  interface FastifyRequest {
    /** The caller's key; `null` when none was sent, or an unknown one where `unknownKeys` is `ignore`. */
    apiKey: ApiKeyRecord | null
    /** Error code of the answer; `null` for a success. */
    errorCode: string | null
    /** Ids that the handler noted with `noteSubject`, for the log line and the span. */
    subject: RequestSubject | null
    /** The caller's `x-request-id` when it is safe to log. For logs only. */
    clientRequestId: string | null
    /**
     * Aborts when the caller goes away or the handler's time is over; pass it to every read.
     * Use it instead of `signal`, which aborts as soon as a body has been read.
     */
    readonly cancellation: AbortSignal
    /** Accounting of this request; `null` on the admin and ops listeners, which count nothing. */
    exchange: Exchange | null
    /** Source of `cancellation`; created when that is first read. */
    abortController: AbortController | null
  }
}
