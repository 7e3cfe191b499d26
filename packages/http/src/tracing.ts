/** Names of a span's attributes. The list is closed, so that no key, signature, body or URL ever gets into a span. */
type SpanAttribute =
  | 'http.request.method'
  | 'http.route'
  | 'http.response.status_code'
  | 'db.operation.name'
  | 'server.address'
  | 'error.type'
  | 'causeway.http_request_id'
  | 'causeway.request_id'
  | 'causeway.order_id'
  | 'causeway.transaction_hash'
  | 'causeway.key_id'
  | 'causeway.chain'
  | 'causeway.item'
  | 'causeway.kind'
  | 'causeway.outcome'

export type SpanAttributes = Readonly<Partial<Record<SpanAttribute, string | number>>>

/** Span of one request to this service. It lasts until the answer is sent. */
export type ServerSpan = {
  readonly traceId: string
  /** Runs `next` with this span as parent of every span that begins within. */
  run(next: () => void): void
  end(attributes: SpanAttributes, isFailed: boolean): void
}

/**
 * Records spans of a service's work and exports them to a collector. It never throws and never delays the work, even when
 * the collector fails.
 */
export type Tracing = {
  /**
   * Begins the span of a request.
   * @param parent `traceparent` of a caller that may join traces; undefined for all other callers
   * @param startedAtMs by `performance.now()`
   */
  startRequest(name: string, parent: string | undefined, startedAtMs: number): RequestTrace
  /** Runs work that no request caused, such as a job, as a new trace. */
  runTrace<T>(name: string, attributes: SpanAttributes, work: () => Promise<T>): Promise<T>
  /** Runs work as a child of the current span; without a current span it only runs the work. */
  runSpan<T>(
    name: string,
    attributes: SpanAttributes,
    work: () => Promise<T>,
    kind?: 'internal' | 'client',
  ): Promise<T>
  /** Records a call to another service, such as a chain's endpoint, that has just ended, as a child of the current span. */
  recordEndedCall(
    name: string,
    attributes: SpanAttributes,
    call: { seconds: number; failure: string | undefined },
  ): void
  /** Headers for an outgoing call, so that the called service joins the trace: `traceparent`, or none. */
  headers(): Readonly<Record<string, string>>
  /** Id of the current trace; undefined without one. */
  traceId(): string | undefined
  /** Exports the remaining spans, for two seconds at most. */
  close(): Promise<void>
}

/**
 * Tracing of one request. A request that is not sampled has no span, but must still run within `run`: the services that it
 * calls are then told not to sample either.
 */
export type RequestTrace = ServerSpan | { readonly traceId: undefined; run(next: () => void): void }

/** Runs work as a span where tracing is on, and plainly where it is off (`undefined`). */
export function traced<T>(
  tracing: Tracing | undefined,
  name: string,
  attributes: SpanAttributes,
  work: () => Promise<T>,
): Promise<T> {
  return tracing === undefined ? work() : tracing.runSpan(name, attributes, work)
}
