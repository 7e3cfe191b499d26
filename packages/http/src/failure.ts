/**
 * Failures that happen around a handler: in the HTTP server, hooks, limits and validation. Handlers throw `DomainError`.
 * An `ErrorPolicy` maps every member to an `errorCode`, so a new member does not compile until it is mapped.
 */
export type FrameworkFailure =
  | 'invalid_request'
  | 'invalid_json'
  | 'empty_body'
  | 'malformed_http'
  | 'unauthorized'
  | 'not_found'
  | 'request_late'
  | 'body_too_large'
  | 'url_too_long'
  | 'unsupported_media_type'
  | 'rate_limited'
  | 'headers_too_large'
  | 'overloaded'
  | 'timed_out'
  | 'internal'

/** HTTP status of each framework failure. */
export const statusByFailure = {
  invalid_request: 400,
  invalid_json: 400,
  empty_body: 400,
  malformed_http: 400,
  unauthorized: 401,
  not_found: 404,
  request_late: 408,
  body_too_large: 413,
  url_too_long: 414,
  unsupported_media_type: 415,
  rate_limited: 429,
  headers_too_large: 431,
  overloaded: 503,
  timed_out: 503,
  internal: 500,
} as const satisfies Record<FrameworkFailure, number>

export type RequestFailureOptions = {
  /** The body or query member that broke a rule, dotted: `appFees.0.fee`. */
  readonly field?: string
  readonly retryAfterSeconds?: number
}

/**
 * Refusal of a request before or in place of its handler. The caller receives `message`. For `invalid_request` the
 * message states the broken rule, and `errorData` repeats it as `rule`.
 */
export class RequestFailure extends Error {
  readonly failure: FrameworkFailure
  readonly field: string | undefined
  readonly retryAfterSeconds: number | undefined
  /** Fastify reads it when it answers without the error handler. */
  readonly statusCode: number

  constructor(failure: FrameworkFailure, message: string, options: RequestFailureOptions = {}) {
    super(message)
    this.name = 'RequestFailure'
    this.failure = failure
    this.field = options.field
    this.retryAfterSeconds = options.retryAfterSeconds
    this.statusCode = statusByFailure[failure]
  }
}
