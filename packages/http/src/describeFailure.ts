import { DomainError, type ErrorData, type ErrorKind } from '@causeway/core'
import type { ErrorBody } from './errorBody.ts'
import { type FrameworkFailure, RequestFailure, statusByFailure } from './failure.ts'

/** Mapping of failures to HTTP answers for one app. Both tables must be complete to compile. */
export type ErrorPolicy = {
  readonly statusByKind: Readonly<Record<ErrorKind, number>>
  readonly errorCodes: Readonly<Record<FrameworkFailure, string>>
  /** Error code of a body or query member that broke its schema; `undefined` means `errorCodes.invalid_request`. */
  readonly codeForField?: (field: string) => string | undefined
}

export type FailureAnswer = {
  readonly status: number
  readonly body: ErrorBody
  /** Value of the `retry-after` header; undefined: no header. */
  readonly retryAfterSeconds: number | undefined
  /** True for a failure that nobody foresaw: logged as an error with its stack. */
  readonly isBug: boolean
}

const rateLimitText = 'Rate limit exceeded'

/** By Fastify's error code. Fastify's own messages are not forwarded, because they may quote the request. */
const fastifyFailures: ReadonlyMap<string, { failure: FrameworkFailure; message: string }> = new Map([
  ['FST_ERR_CTP_BODY_TOO_LARGE', { failure: 'body_too_large', message: 'The request body is too large.' }],
  [
    'FST_ERR_CTP_INVALID_MEDIA_TYPE',
    { failure: 'unsupported_media_type', message: 'The body must be JSON: content-type application/json.' },
  ],
  [
    'FST_ERR_CTP_INVALID_CONTENT_LENGTH',
    { failure: 'malformed_http', message: 'The body is not as long as content-length says.' },
  ],
  ['FST_ERR_BAD_URL', { failure: 'malformed_http', message: 'The URL is malformed.' }],
  ['FST_ERR_MAX_PARAM_LENGTH', { failure: 'url_too_long', message: 'A part of the URL path is too long.' }],
  ['FST_ERR_HANDLER_TIMEOUT', { failure: 'timed_out', message: 'The request took too long.' }],
])

/**
 * Turns anything that a handler or the framework threw into its HTTP answer. Pure, and the only place where a failure
 * gets its status, code and body. An unforeseen error becomes a constant 500.
 * @source rule Q-7
 */
export function describeFailure(error: unknown, policy: ErrorPolicy): FailureAnswer {
  if (error instanceof DomainError) {
    return answer({
      status: policy.statusByKind[error.kind],
      errorCode: error.code,
      message: error.message,
      facts: error.data,
      retryAfterSeconds: error.retryAfterSeconds,
      isBug: error.kind === 'internal',
    })
  }
  if (error instanceof RequestFailure) {
    const fieldCode = error.field === undefined ? undefined : policy.codeForField?.(error.field)
    return answer({
      status: statusByFailure[error.failure],
      errorCode: fieldCode ?? policy.errorCodes[error.failure],
      message: error.message,
      facts: describeBrokenRule(error),
      retryAfterSeconds: error.retryAfterSeconds,
      isBug: error.failure === 'internal',
    })
  }
  return describeForeign(error, policy)
}

/** `errorData` of a refused request: which member broke which rule. */
function describeBrokenRule({ failure, field, message }: RequestFailure): ErrorData {
  return { ...(field !== undefined && { field }), ...(failure === 'invalid_request' && { rule: message }) }
}

/** For errors that are not this project's own: Fastify's, Node's or a library's. */
function describeForeign(error: unknown, policy: ErrorPolicy): FailureAnswer {
  const { code, statusCode } = readFastifyError(error)
  const fastifyFailure = code === undefined ? undefined : fastifyFailures.get(code)
  if (fastifyFailure !== undefined) {
    return answer({
      status: statusByFailure[fastifyFailure.failure],
      errorCode: policy.errorCodes[fastifyFailure.failure],
      message: fastifyFailure.message,
      retryAfterSeconds: fastifyFailure.failure === 'timed_out' ? 1 : undefined,
    })
  }
  // Only Fastify's own refusals: an HTTP client in a handler may throw another server's 4xx, which is not this caller's fault.
  const isFastifyRefusal = code?.startsWith('FST_') === true && statusCode !== undefined
  if (isFastifyRefusal && statusCode >= 400 && statusCode < 500) {
    const message = 'The request could not be read.'
    return answer({ status: 400, errorCode: policy.errorCodes.malformed_http, message })
  }
  return answer({
    status: 500,
    errorCode: policy.errorCodes.internal,
    message: 'Internal error.',
    isBug: true,
  })
}

type AnswerParts = {
  readonly status: number
  readonly errorCode: string
  readonly message: string
  readonly facts?: ErrorData
  readonly retryAfterSeconds?: number | undefined
  readonly isBug?: boolean
}

function answer(parts: AnswerParts): FailureAnswer {
  const { status, errorCode, message, facts = {}, isBug = false } = parts
  // Every 429 names a time, at least one second.
  const seconds = parts.retryAfterSeconds ?? (status === 429 ? 1 : undefined)
  const retryAfterSeconds = seconds === undefined ? undefined : Math.max(1, Math.ceil(seconds))
  const body: ErrorBody = {
    message,
    errorCode,
    statusCode: status,
    ...(status === 400 && { errorData: JSON.stringify(facts) }),
    ...(retryAfterSeconds !== undefined && { retryable: true }),
    ...(status === 429 && { error: rateLimitText }),
  }
  return { status, body, retryAfterSeconds, isBug }
}

function readFastifyError(error: unknown): { code?: string; statusCode?: number } {
  if (!(error instanceof Error)) return {}
  return {
    ...('code' in error && typeof error.code === 'string' && { code: error.code }),
    ...('statusCode' in error && typeof error.statusCode === 'number' && { statusCode: error.statusCode }),
  }
}
