import { poll, seekAgreement, shortestPauseMs } from './agreement.ts'
import { createEndpoints, type EndpointToCreate } from './createEndpoints.ts'
import type { Endpoint, ObserveEndpoints, SendOptions, Wire } from './endpoint.ts'
import { EndpointFailure } from './endpointFailure.ts'
import { EndpointPool } from './endpointPool.ts'
import { evmHeadTracking, type HeadTracking } from './headTracking.ts'
import { hedgedRequest } from './hedgedRequest.ts'
import type { JsonRpcClient, RpcAnswer, RpcCall, RpcOptions } from './jsonRpc.ts'
import { NodeError } from './nodeError.ts'
import { isRepeatable } from './repeatedSending.ts'
import type { Line } from './requestPace.ts'
import { sendAndRetryOnce } from './sendAndRetryOnce.ts'
import { countVoices, defaultThreshold } from './tally.ts'
import { toUpstreamError } from './upstreamError.ts'

export type JsonRpcClientOptions = {
  /** String id of the chain in the configuration, e.g. `base`: appears in errors. */
  readonly chainId: string
  /** In order of preference. Without an alias, host, port and position serve as one. */
  readonly endpoints: readonly EndpointToCreate[]
  /** Milliseconds of a clock that is never set. Default: this process's. */
  readonly now?: (() => number) | undefined
  /** Budget of a call that names none. Default 5 000. */
  readonly timeoutMs?: number
  /** Voices that must agree when a call names no number; default ceil(2n/3) of the configured ones. */
  readonly threshold?: number
  /** An endpoint further behind the others is not asked. Default 5. */
  readonly lagBlocksMax?: number
  /** Least time between two rounds of head probes, which run beside other calls. Default 5 000. */
  readonly headProbeIntervalMs?: number
  /** Default: `eth_blockNumber`. */
  readonly headTracking?: HeadTracking
  /** Default: JSON-RPC. */
  readonly wire?: Wire
}

/** After this time without an answer the next endpoint is asked as well. */
const patienceMs = 500

/** Calls of the largest requests in use: as many as `callsPerRequestMax` of a quorum. */
const callsAtMost = 40

/** A Bitcoin output as an indexing service lists it, unverified: its spender asks nodes whether it exists. */
export type NamedOutput = { readonly txid: string; readonly vout: number; readonly value: bigint }

/** A client and its endpoints, over which a `QuorumClient` can be created as well. */
export type ChainClient = JsonRpcClient & {
  readonly endpoints: readonly Endpoint[]
  /**
   * Outputs of an address, from any service that indexes them; present on Bitcoin, whose nodes keep no such lists.
   * @param whose `own`: for an address with too many outputs, those of its newest transactions are enough
   * @throws AddressRefusedError if no service lists this address, upstream errors if none answers
   */
  readonly nameOutputs?: (
    address: string,
    signal: AbortSignal,
    whose?: 'own',
  ) => Promise<readonly NamedOutput[]>
  /** Registers listeners for later events of its endpoints, for metrics. */
  observe(observerOf: ObserveEndpoints): void
}

/**
 * Makes a client for one chain. Opens no connection and starts no timer before the first call.
 * @throws ConfigurationError if there is no endpoint, one is no http(s) URL, or one is named twice
 */
export function createJsonRpcClient(options: JsonRpcClientOptions): ChainClient {
  const {
    chainId,
    now = () => performance.now(),
    headTracking = evmHeadTracking,
    timeoutMs: defaultTimeoutMs = 5_000,
  } = options
  const { lagBlocksMax = 5, headProbeIntervalMs = 5_000 } = options
  const endpoints = createEndpoints({ ...options, now, headTracking })
  const headCall = headTracking.call
  const pool = new EndpointPool({ endpoints, headCall, lagBlocksMax, headProbeIntervalMs, now })
  const threshold = options.threshold ?? defaultThreshold(countVoices(endpoints))
  const electorate = { voters: endpoints, threshold }
  const sendOptionsOf = ({ timeoutMs = defaultTimeoutMs, signal, line }: RpcOptions) => {
    return { deadlineMs: now() + timeoutMs, signal, line }
  }
  const batch = async (calls: readonly RpcCall[], callOptions: RpcOptions = {}) =>
    askPool({ chainId, endpoints, pool, now }, calls, sendOptionsOf(callOptions))
  const sizes = () =>
    endpoints.map(({ alias, voice, sizes: learnedSizes }) => ({ alias, voice, ...learnedSizes }))

  return {
    chainId,
    endpoints,
    electorate,
    batch,
    async request(call, callOptions) {
      const [answer] = await batch([call], callOptions)
      if (answer === undefined) throw new Error('one call came back without an answer')
      if (!answer.ok) throw new NodeError(answer)
      return answer.result
    },
    async agree(calls, callOptions = {}) {
      const { threshold: needed = threshold, project } = callOptions
      const agreementOptions = { chainId, endpoints, calls, threshold: needed, project }
      return seekAgreement({ ...agreementOptions, ...sendOptionsOf(callOptions) })
    },
    poll(calls, { timeoutMs, ...polling }) {
      const deadlineMs = now() + (timeoutMs ?? defaultTimeoutMs)
      return poll({ chainId, endpoints, threshold, calls, deadlineMs, ...polling })
    },
    askEach: async (calls, callOptions = {}) => askEvery(endpoints, calls, sendOptionsOf(callOptions)),
    probeHeads: () => pool.probeHeads(),
    health: () => pool.health(),
    sizes,
    async trySizes() {
      // On a wire of paths each call is a request of its own, so there is no size to try.
      if (options.wire !== 'paths') await trySizesOf(endpoints, headTracking, now() + defaultTimeoutMs)
      return sizes()
    },
    observe(observerOf) {
      for (const endpoint of endpoints) endpoint.observe(observerOf(endpoint.alias))
    },
    async close() {
      await Promise.all(endpoints.map((endpoint) => endpoint.close()))
    },
  }
}

/** The client with a fixed queue: at endpoints that limit their rate, all its calls wait in this line. @source F-65 */
export function waitingIn<Client extends JsonRpcClient>(line: Line, client: Client): Client {
  return {
    ...client,
    batch: (calls, options) => client.batch(calls, { ...options, line }),
    request: (call, options) => client.request(call, { ...options, line }),
    agree: (calls, options) => client.agree(calls, { ...options, line }),
    poll: (calls, options) => client.poll(calls, { ...options, line }),
    askEach: (calls, options) => client.askEach(calls, { ...options, line }),
  }
}

/** Asks every endpoint, also paused ones. */
function askEvery(endpoints: readonly Endpoint[], calls: readonly RpcCall[], sendOptions: SendOptions) {
  return Promise.all(
    endpoints.map(async (endpoint) => ({
      alias: endpoint.alias,
      voice: endpoint.voice,
      answers: await endpoint.send(calls, { ...sendOptions, evenPaused: true }).catch(ignoreEndpointFailure),
    })),
  )
}

/** Sends each endpoint the largest requests in use, so that it learns from refusals which sizes the endpoint takes. */
async function trySizesOf(
  endpoints: readonly Endpoint[],
  tracking: HeadTracking,
  deadlineMs: number,
): Promise<void> {
  const calls = Array.from({ length: callsAtMost }, () => tracking.call)
  const sendOptions = { deadlineMs, evenPaused: true }
  await Promise.all(
    endpoints.map(async (endpoint) => {
      const { headBlock } = endpoint.state
      const widest = headBlock === undefined ? undefined : tracking.widest?.(headBlock)
      await endpoint.send(calls, sendOptions).catch(ignoreEndpointFailure)
      if (widest !== undefined) await endpoint.send([widest], sendOptions).catch(ignoreEndpointFailure)
    }),
  )
}

type Pooled = Pick<ChainClient, 'chainId' | 'endpoints'> & {
  readonly pool: EndpointPool
  readonly now: () => number
}

/** Asks endpoints of the pool until one answers; calls that must not be repeated go to one. @throws upstream errors */
async function askPool(
  { chainId, endpoints, pool, now }: Pooled,
  calls: readonly RpcCall[],
  sendOptions: SendOptions,
): Promise<readonly RpcAnswer[]> {
  if (calls.length === 0) return []
  const candidates = await pool.candidates(sendOptions.deadlineMs)
  const repeatable = isRepeatable(calls)
  const tried = repeatable ? candidates : candidates.slice(0, 1)
  try {
    return await askInTurn(tried, calls, { repeatable, now, ...sendOptions })
  } catch (error) {
    if (!(error instanceof AggregateError)) throw error
    const failures = tried.length > 0 ? error.errors : endpoints.map(excluded)
    throw toUpstreamError(chainId, failures, shortestPauseMs(endpoints))
  }
}

type AttemptOptions = SendOptions & { readonly repeatable: boolean; readonly now: () => number }

/** The first answer of endpoints that are asked one after the other. @throws AggregateError of one failure for each */
async function askInTurn(
  endpoints: readonly Endpoint[],
  calls: readonly RpcCall[],
  attemptOptions: AttemptOptions,
): Promise<readonly RpcAnswer[]> {
  const { deadlineMs, signal, now } = attemptOptions
  const [only, ...others] = endpoints
  if (only === undefined) throw new AggregateError([])
  if (others.length === 0) {
    // With one endpoint there is nothing to hedge.
    return sendAndRetryOnce(only, calls, attemptOptions).catch((failure: unknown) => {
      throw new AggregateError([failure])
    })
  }
  const attempts = endpoints.map(
    (endpoint) => (attemptSignal: AbortSignal) =>
      sendAndRetryOnce(endpoint, calls, { ...attemptOptions, signal: attemptSignal }),
  )
  // The last endpoint, too, gets a share of the time that is left.
  const staggerMs = Math.max(Math.min((deadlineMs - now()) / endpoints.length, patienceMs), 0)
  return hedgedRequest(attempts, { staggerMs, signal })
}

function excluded({ alias }: Endpoint): EndpointFailure {
  return new EndpointFailure({ alias, reason: 'excluded' })
}

function ignoreEndpointFailure(failure: unknown): undefined {
  if (failure instanceof EndpointFailure) return undefined
  throw failure
}
