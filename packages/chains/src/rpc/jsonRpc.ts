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

/** What operators see of one endpoint; `alias` is its host and position, never its URL. */
export type EndpointHealth = {
  readonly alias: string
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
  /** One HTTP round trip to one endpoint; answers in call order. */
  batch(calls: readonly RpcCall[], options?: RpcOptions): Promise<readonly RpcAnswer[]>
  request(call: RpcCall, options?: RpcOptions): Promise<unknown>
  /**
   * Asks every endpoint and returns the answer that at least `threshold` of the configured ones give,
   * compared by canonical JSON. @throws UpstreamDisagreementError, UpstreamUnavailableError
   */
  agree(
    calls: readonly RpcCall[],
    options: RpcOptions & { readonly threshold: number },
  ): Promise<{ readonly answers: readonly RpcAnswer[]; readonly agreeingEndpoints: readonly string[] }>
  health(): readonly EndpointHealth[]
  close(): Promise<void>
}
