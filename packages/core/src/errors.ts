/** Kind of an error, from the caller's point of view. Each app maps every kind to one HTTP status. */
export type ErrorKind =
  | 'invalid_request'
  | 'unauthorized'
  | 'forbidden'
  | 'not_found'
  | 'conflict'
  | 'not_final'
  | 'rate_limited'
  | 'upstream_unavailable'
  | 'upstream_disagreement'
  | 'overloaded'
  | 'internal'

/** Public, non-secret facts that help the caller mend the request: limits, amounts, chain ids, field names. */
export type ErrorData = Readonly<Record<string, string | number | boolean>>

export type DomainErrorOptions = {
  readonly data?: ErrorData
  readonly cause?: unknown
  /** If it is set, the answer carries `retry-after` (whole seconds, at least 1) and `retryable: true`. */
  readonly retryAfterSeconds?: number
}

/**
 * Base of every expected failure; anything else that is thrown is a bug and becomes a constant 500.
 * `message` and `data` reach the caller, so they never hold a URL, a key, SQL or an upstream body.
 * Those travel in `cause`, which is logged and never sent.
 */
export abstract class DomainError extends Error {
  /** Stable SCREAMING_SNAKE code; the wording of `message` may change, this may not. */
  abstract readonly code: string
  abstract readonly kind: ErrorKind
  readonly data: ErrorData
  readonly retryAfterSeconds: number | undefined

  constructor(message: string, options: DomainErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = new.target.name
    this.data = options.data ?? {}
    this.retryAfterSeconds = options.retryAfterSeconds
  }

  /** True when the same request may succeed later without any change by the caller. */
  get retryable(): boolean {
    return this.retryAfterSeconds !== undefined
  }
}

/** A chain endpoint, a database or a price source did not answer usefully within its time budget. */
export class UpstreamUnavailableError extends DomainError {
  readonly code: string
  readonly kind = 'upstream_unavailable'

  /** `code` defaults to `SERVICE_UNAVAILABLE`; RPC trouble uses `RPC_HTTP_ERROR` or `REQUEST_TIMED_OUT`. */
  constructor(message: string, options: DomainErrorOptions & { code?: string } = {}) {
    super(message, { retryAfterSeconds: 1, ...options })
    this.code = options.code ?? 'SERVICE_UNAVAILABLE'
  }
}

/** Endpoints answered, but not the same thing: nothing that needs their agreement may be said. */
export class UpstreamDisagreementError extends DomainError {
  readonly code = 'UPSTREAM_DISAGREEMENT'
  readonly kind = 'upstream_disagreement'

  constructor(message: string, options: DomainErrorOptions = {}) {
    super(message, { retryAfterSeconds: 2, ...options })
  }
}

/** A configuration that must not run. Thrown at start only; names settings, never their values. */
export class ConfigurationError extends Error {
  /** One sentence per problem; the message itself where there is only one. */
  readonly problems: readonly string[]

  constructor(message: string, options: { cause?: unknown; problems?: readonly string[] } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'ConfigurationError'
    this.problems = options.problems ?? [message]
  }

  /** One error for several problems: its message lists them below `heading`, one a line. */
  static listing(heading: string, problems: readonly string[]): ConfigurationError {
    return new ConfigurationError(`${heading}\n- ${problems.join('\n- ')}`, { problems })
  }
}
