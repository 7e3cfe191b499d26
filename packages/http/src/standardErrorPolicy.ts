import type { ErrorPolicy } from './describeFailure.ts'

/** Answer of both services to each kind of failure. @source rule Q-139 */
export const standardErrorPolicy: ErrorPolicy = {
  statusByKind: {
    invalid_request: 400,
    not_final: 400,
    unauthorized: 401,
    forbidden: 403,
    not_found: 404,
    conflict: 409,
    rate_limited: 429,
    internal: 500,
    upstream_unavailable: 503,
    upstream_disagreement: 503,
    overloaded: 503,
  },
  errorCodes: {
    invalid_request: 'INVALID_REQUEST',
    invalid_json: 'INVALID_REQUEST',
    empty_body: 'INVALID_REQUEST',
    malformed_http: 'INVALID_REQUEST',
    unauthorized: 'UNAUTHORIZED',
    not_found: 'NOT_FOUND',
    request_late: 'REQUEST_TIMED_OUT',
    body_too_large: 'BODY_TOO_LARGE',
    url_too_long: 'INVALID_REQUEST',
    unsupported_media_type: 'UNSUPPORTED_MEDIA_TYPE',
    rate_limited: 'RATE_LIMITED',
    headers_too_large: 'HEADERS_TOO_LARGE',
    overloaded: 'SERVICE_UNAVAILABLE',
    timed_out: 'REQUEST_TIMED_OUT',
    internal: 'UNKNOWN_ERROR',
  },
}
