/**
 * Why one endpoint gave no usable answer. Names the trouble, never the URL or what the endpoint said,
 * so that it can be logged as the `cause` of a `DomainError`.
 */
export type FailureReason =
  /** Nothing listens, the name does not resolve, or the TLS handshake failed. */
  | 'unreachable'
  /** The connection broke before the answer was complete. */
  | 'connection_lost'
  | 'timeout'
  /** The caller no longer wants the answer. Says nothing about the endpoint. */
  | 'cancelled'
  | 'http_status'
  /** The endpoint refuses this request, for its size or something that it names. */
  | 'refused'
  /** Given up: the endpoint takes so little at once that too many requests would be needed. */
  | 'too_wide'
  /** HTTP 429, or a JSON-RPC error that means the same. */
  | 'rate_limited'
  | 'redirect'
  | 'oversize'
  /** The body is not JSON. */
  | 'not_json'
  /** JSON, but not the answers to what was asked: wrong, missing or repeated ids. */
  | 'bad_answer'
  /** Not asked: too many calls wait for the endpoint already, or its rate leaves no turn before the deadline. */
  | 'busy'
  /** Not asked at all: the breaker is open, the endpoint cools down, or its head lags. */
  | 'excluded'

/** One endpoint gave no usable answer to a request. */
export class EndpointFailure extends Error {
  readonly alias: string
  readonly reason: FailureReason
  readonly status: number | undefined
  readonly retryAfterMs: number | undefined
  readonly #said: string

  constructor(args: {
    alias: string
    reason: FailureReason
    status?: number | undefined
    retryAfterMs?: number | undefined
    /** Socket error code such as `ECONNREFUSED`. */
    code?: string | undefined
    /** The beginning of the body, if it may say why. */
    said?: string | undefined
    /** The answer that could not be read, and the node's own error, for logs. */
    cause?: Error | undefined
  }) {
    const detail = args.status ?? args.code
    super(
      `${args.alias}: ${args.reason}${detail === undefined ? '' : ` (${detail})`}`,
      args.cause === undefined ? undefined : { cause: args.cause },
    )
    this.name = 'EndpointFailure'
    this.alias = args.alias
    this.reason = args.reason
    this.status = args.status
    this.retryAfterMs = args.retryAfterMs
    this.#said = args.said ?? ''
  }

  /** The endpoint's own words, from which limits are learnt. A getter, so that logs do not contain them. */
  get said(): string {
    return this.#said
  }
}

const possiblyForName: ReadonlySet<FailureReason> = new Set([
  'refused',
  'http_status',
  'timeout',
  'cancelled',
  'connection_lost',
  'redirect',
  'oversize',
  'not_json',
  'bad_answer',
])

/** True if something that the question names (an id, an address) may have caused the failure, not the endpoint. */
export const mayBeForName = ({ reason }: EndpointFailure) => possiblyForName.has(reason)
