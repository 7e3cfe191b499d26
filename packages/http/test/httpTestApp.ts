import {
  createHttpApp,
  createHttpMetrics,
  createReadiness,
  type HttpAppOptions,
  noApiKeys,
} from '@causeway/http'
import { pino } from 'pino'
import type { ErrorPolicy } from '../src/describeFailure.ts'
import type { HttpApp } from '../src/fastifyTypes.ts'

/** The error policy of a made-up app. */
export const policy: ErrorPolicy = {
  statusByKind: {
    invalid_request: 400,
    unauthorized: 401,
    forbidden: 403,
    not_found: 404,
    conflict: 409,
    not_final: 409,
    rate_limited: 429,
    upstream_unavailable: 503,
    upstream_disagreement: 503,
    overloaded: 503,
    internal: 500,
  },
  errorCodes: {
    invalid_request: 'INVALID_REQUEST',
    invalid_json: 'INVALID_JSON',
    empty_body: 'EMPTY_BODY',
    malformed_http: 'MALFORMED_HTTP',
    unauthorized: 'UNAUTHORIZED',
    not_found: 'NOT_FOUND',
    request_late: 'REQUEST_LATE',
    body_too_large: 'BODY_TOO_LARGE',
    url_too_long: 'URL_TOO_LONG',
    unsupported_media_type: 'UNSUPPORTED_MEDIA_TYPE',
    rate_limited: 'RATE_LIMITED',
    headers_too_large: 'HEADERS_TOO_LARGE',
    overloaded: 'SERVICE_UNAVAILABLE',
    timed_out: 'REQUEST_TIMED_OUT',
    internal: 'UNKNOWN_ERROR',
  },
  codeForField: (field) => (field === 'slippageTolerance' ? 'INVALID_SLIPPAGE_TOLERANCE' : undefined),
}

export const unlimited: HttpAppOptions['rateLimits'] = {
  windowMs: 1_000,
  classes: { read: { perKeyMax: 0, perIpMax: 0 }, quote: { perKeyMax: 0, perIpMax: 0 } },
  defaultClass: 'read',
  failedKeysPerMinuteMax: 0,
}

/** An app with every part in place and nothing limited; `options` replaces parts. */
export async function createTestApp(options: Partial<HttpAppOptions> = {}): Promise<HttpApp> {
  return createHttpApp({
    logger: pino({ level: 'silent' }),
    errors: policy,
    apiKeys: noApiKeys,
    rateLimits: unlimited,
    metrics: createHttpMetrics({ service: 'test' }),
    readiness: createReadiness({ checks: [] }),
    trustedProxies: [],
    cors: true,
    ...options,
  })
}
