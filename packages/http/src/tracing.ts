/**
 * The names that a span may carry. A closed list: what is no name, number or id of the service's own, such as
 * a key, a signature, a body or a URL, has no place in a span.
 */
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

/** The span of one request to this service, until its answer is sent. */
export type ServerSpan = {
  readonly traceId: string
  /** Runs `next` with the request as parent of every span it begins. */
  run(next: () => void): void
  end(attributes: SpanAttributes, isFailed: boolean): void
}

/**
 * Spans of what a service does. Never throws, waits for nobody, and a failure of the collector is nobody's but
 * its own.
 */
export type Tracing = {
  /**
   * Begins the span of a request.
   * @param parent `traceparent` of a caller that may join traces; undefined for everybody else
   * @param startedAtMs of `performance.now()`
   */
  serve(name: string, parent: string | undefined, startedAtMs: number): Served
  /** Begins a trace of the service's own work. */
  start<T>(name: string, attributes: SpanAttributes, work: () => Promise<T>): Promise<T>
  /** Work within what is traced now; `work` alone where nothing is. */
  during<T>(
    name: string,
    attributes: SpanAttributes,
    work: () => Promise<T>,
    kind?: 'internal' | 'client',
  ): Promise<T>
  /** A call to another one that has just ended, within what is traced now. */
  called(
    name: string,
    attributes: SpanAttributes,
    call: { seconds: number; failure: string | undefined },
  ): void
  /** Headers for whom is called now, so that its spans join: `traceparent`, or none. */
  headers(): Readonly<Record<string, string>>
  /** Id of the current trace. */
  traceId(): string | undefined
  /** Sends what waits, for a short time. */
  close(): Promise<void>
}

/** A request that is not sampled has no span, and whom it calls must hear so. */
export type Served = ServerSpan | { readonly traceId: undefined; run(next: () => void): void }

/** Runs the work of those that need not know whether tracing is on. */
export function traced<T>(
  tracing: Tracing | undefined,
  name: string,
  attributes: SpanAttributes,
  work: () => Promise<T>,
): Promise<T> {
  return tracing === undefined ? work() : tracing.during(name, attributes, work)
}
