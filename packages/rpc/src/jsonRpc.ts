import type { Line } from './requestPace.ts'
import type { Electorate, Vote, Voter } from './tally.ts'

/** One JSON-RPC call. */
export type RpcCall = { readonly method: string; readonly params: readonly unknown[] }

/** A node's answer to one call: the result, or the node's own error (a revert, an unknown method). */
export type RpcAnswer =
  | { readonly ok: true; readonly result: unknown }
  | { readonly ok: false; readonly code: number; readonly message: string; readonly data?: unknown }

export type RpcOptions = {
  readonly signal?: AbortSignal
  /** Budget for the whole call, failover included. */
  readonly timeoutMs?: number
  /** Queue in which the call waits at an endpoint that limits its rate. Default: `work`. */
  readonly line?: Line
}

export type AgreeOptions = RpcOptions & {
  /** Voices that must agree; default the client's own number. */
  readonly threshold?: number
  /**
   * Part of the answers that must be equal. Default: all results, and code and data of node errors. Node
   * implementations add different members to logs and receipts: name the ones that matter. Where it throws a
   * MalformedAnswerError, or a NodeError of one code, answers count as equal.
   */
  readonly project?: (answers: readonly RpcAnswer[]) => unknown
}

/** Rules by which votes of endpoints are turned into an outcome. */
export type PollOptions<Outcome> = RpcOptions & {
  /**
   * Outcome of the votes so far, `undefined` while more are needed. Pure; called after each vote. `isLast`: all votes
   * have come, or late ones have had their time (`patienceMs`). An error that it throws ends the poll.
   */
  readonly decide: (votes: readonly Vote<readonly RpcAnswer[]>[], isLast: boolean) => Outcome | undefined
  /** Once as many voices as the threshold have answered, late ones have so many milliseconds left. */
  readonly patienceMs?: number | undefined
  /** Called once with all votes; without it, calls that no longer matter are aborted. */
  readonly onHeard?: ((votes: readonly Vote<readonly RpcAnswer[]>[]) => void) | undefined
}

/** Answers that enough endpoints gave, and the aliases of these endpoints. */
export type Agreement = {
  readonly answers: readonly RpcAnswer[]
  /** Aliases, never URLs. */
  readonly agreeingEndpoints: readonly string[]
}

/** One endpoint's answers in call order; `undefined` if it gave no usable answer. */
export type EndpointAnswers = Voter & {
  readonly answers: readonly RpcAnswer[] | undefined
}

/** Operators' view of one endpoint; `alias` is its host and position, never its URL. */
export type EndpointHealth = {
  readonly alias: string
  /** True when the endpoint is asked for ordinary reads now. */
  readonly healthy: boolean
  readonly headBlock: bigint | undefined
  readonly latencyMs: number | undefined
  readonly consecutiveFailures: number
}

/** Size of one request to an endpoint: its calls, and the blocks of each `eth_getLogs`. */
export type Sizes = { calls: number; logBlocks: number }

/** Largest sizes that one endpoint takes; infinite if it has refused nothing. */
export type TakenSizes = Voter & Readonly<Sizes>

/**
 * JSON-RPC access to one chain over one or several endpoints.
 *
 * `request` and `batch` take any endpoint's answer, and fail over to others: only for data that is shown. Data by which
 * money is moved must come from `agree` or `poll`.
 * Failures of transport (refused, late, not JSON, HTTP 4xx/5xx, wrong id) become
 * `UpstreamUnavailableError` with code `RPC_HTTP_ERROR` or `REQUEST_TIMED_OUT`; a node's own error is
 * a value of `batch` and a `NodeError` of `request`.
 */
export interface JsonRpcClient {
  readonly chainId: string
  /** The endpoints as voters, and the default number of voices that must agree. */
  readonly electorate: Electorate
  /** One HTTP round trip to one endpoint; answers in call order. @throws UpstreamUnavailableError */
  batch(calls: readonly RpcCall[], options?: RpcOptions): Promise<readonly RpcAnswer[]>
  /** @throws NodeError, UpstreamUnavailableError */
  request(call: RpcCall, options?: RpcOptions): Promise<unknown>
  /**
   * Asks every endpoint at once and returns the answer that at least `threshold` of the configured voices
   * give, as soon as they gave it. @throws UpstreamDisagreementError, UpstreamUnavailableError
   */
  agree(calls: readonly RpcCall[], options?: AgreeOptions): Promise<Agreement>
  /**
   * Asks every endpoint at once and returns the outcome of `decide` for their answers.
   * @throws UpstreamUnavailableError if all have answered or failed, and there is no outcome
   */
  poll<Outcome>(calls: readonly RpcCall[], options: PollOptions<Outcome>): Promise<Outcome>
  /**
   * Answers of each endpoint by itself, `undefined` if it gives no usable answer: for checks of the endpoints, such as
   * their chain id.
   */
  askEach(calls: readonly RpcCall[], options?: RpcOptions): Promise<readonly EndpointAnswers[]>
  /**
   * Asks every endpoint for its head, so that one that lags is no longer asked. Runs by itself beside
   * other calls when there is more than one endpoint; call it at start or before a decision. Never rejects.
   */
  probeHeads(): Promise<void>
  health(): readonly EndpointHealth[]
  /** Largest request that each endpoint takes, learnt from its refusals. Makes no request. */
  sizes(): readonly TakenSizes[]
  /** Asks each endpoint once for the largest requests in use, then returns `sizes()`. Never rejects. */
  trySizes(): Promise<readonly TakenSizes[]>
  close(): Promise<void>
}
