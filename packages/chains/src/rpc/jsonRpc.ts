/** One JSON-RPC call. */
export type RpcCall = { readonly method: string; readonly params: readonly unknown[] }

/** A member of a batch: its result, or the node's own error (a revert, an unknown method). */
export type RpcAnswer =
  | { readonly ok: true; readonly result: unknown }
  | { readonly ok: false; readonly code: number; readonly message: string; readonly data?: unknown }

export type RpcOptions = {
  readonly signal?: AbortSignal
  /** Budget for the whole call, failover included. */
  readonly timeoutMs?: number
}

export type AgreeOptions = RpcOptions & {
  /** Equal answers needed; default the client's own, else ceil(2n/3) of the configured endpoints. */
  readonly threshold?: number
  /**
   * What of the answers must be equal. Default: all results, and code and data of node errors. Nodes of
   * different make add different members to logs and receipts: name the ones that matter.
   */
  readonly project?: (answers: readonly RpcAnswer[]) => unknown
}

/** Answers that enough endpoints gave, and who gave them. */
export type Agreement = {
  readonly answers: readonly RpcAnswer[]
  /** Aliases, never URLs. */
  readonly agreeingEndpoints: readonly string[]
}

export type EndpointAnswers = {
  readonly alias: string
  readonly answers: readonly RpcAnswer[] | undefined
}

/** What operators see of one endpoint; `alias` is its host and position, never its URL. */
export type EndpointHealth = {
  readonly alias: string
  /** True when the endpoint is asked for ordinary reads now. */
  readonly healthy: boolean
  readonly headBlock: bigint | undefined
  readonly latencyMs: number | undefined
  readonly consecutiveFailures: number
}

/**
 * JSON-RPC access to one chain over one or several endpoints.
 *
 * `request` and `batch` fail over: they feed prices. What feeds a signature asks `agree`.
 * Failures of transport (refused, late, not JSON, HTTP 4xx/5xx, wrong id) become
 * `UpstreamUnavailableError` with code `RPC_HTTP_ERROR` or `REQUEST_TIMED_OUT`; a node's own error is
 * a value of `batch` and a `NodeError` of `request`.
 */
export interface JsonRpcClient {
  readonly chainId: string
  /** One HTTP round trip to one endpoint; answers in call order. @throws UpstreamUnavailableError */
  batch(calls: readonly RpcCall[], options?: RpcOptions): Promise<readonly RpcAnswer[]>
  /** @throws NodeError, UpstreamUnavailableError */
  request(call: RpcCall, options?: RpcOptions): Promise<unknown>
  /**
   * Asks every endpoint at once and returns the answer that at least `threshold` of the configured ones
   * give, as soon as they gave it. @throws UpstreamDisagreementError, UpstreamUnavailableError
   */
  agree(calls: readonly RpcCall[], options?: AgreeOptions): Promise<Agreement>
  /**
   * What each endpoint says by itself, `undefined` where it gives no usable answer: for checks of the
   * endpoints, such as their chain id.
   */
  askEach(calls: readonly RpcCall[], options?: RpcOptions): Promise<readonly EndpointAnswers[]>
  /**
   * Asks every endpoint for its head, so that one that lags is no longer asked. Runs by itself beside
   * other calls when there is more than one endpoint; call it at start or before a decision. Never rejects.
   */
  probeHeads(): Promise<void>
  health(): readonly EndpointHealth[]
  close(): Promise<void>
}
