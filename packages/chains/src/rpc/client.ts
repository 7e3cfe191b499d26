import type { OutPoint } from '@causeway/core'
import { poll, seekAgreement, shortestPauseMs } from './agreement.ts'
import { createEndpoints, type EndpointToCreate } from './createEndpoints.ts'
import type { Endpoint, ObserveEndpoints, SendOptions, Wire } from './endpoint.ts'
import { EndpointFailure } from './endpointFailure.ts'
import { EndpointPool } from './endpointPool.ts'
import { evmHeadTracking, type HeadTracking } from './headTracking.ts'
import { hedgedRequest } from './hedgedRequest.ts'
import type { JsonRpcClient, RpcAnswer, RpcCall, RpcOptions } from './jsonRpc.ts'
import { NodeError } from './nodeError.ts'
import type { Line } from './requestPace.ts'
import { isRepeatable, sendAndRetryOnce } from './sendAndRetryOnce.ts'
import { countVoices, defaultThreshold } from './tally.ts'
import { toUpstreamError } from './upstreamError.ts'

export type JsonRpcClientOptions = {
  /** String id of the chain in the configuration, e.g. `base`: appears in errors. */
  readonly chainId: string
  /** In order of preference. Without an alias, host, port and position serve as one. */
  readonly endpoints: readonly EndpointToCreate[]
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** Budget of a call that names none. Default 5 000. */
  readonly timeoutMs?: number
  /** Hosts that must say the same when a call names no number; default ceil(2n/3) of them. */
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

/** A silent endpoint is given this long before the next one is asked beside it. */
const patienceMs = 500

/** Calls of one request, where an endpoint takes as many. */
const callsAtMost = 40

/** An output that somebody names; whoever spends it asks nodes whether it is there. */
export type NamedOutput = OutPoint & { readonly value: bigint }

/** A client with its endpoints, so that a quorum of the same ones can read beside it. */
export type ChainClient = JsonRpcClient & {
  readonly endpoints: readonly Endpoint[]
  /**
   * Names what an address holds, on chains whose nodes keep no lists of that: what any of those says who do.
   * @param whose `own`: of an address that has too many for a list, those of its newest transactions
   * @throws AddressRefusedError where nobody lists those of this address, upstream errors where none answers
   */
  readonly nameOutputs?: (
    address: string,
    signal: AbortSignal,
    whose?: 'own',
  ) => Promise<readonly NamedOutput[]>
  /** Who is told from now on what becomes of its endpoints, for metrics. */
  observe(observerOf: ObserveEndpoints): void
}

/**
 * Opens no connection and starts no timer before the first call.
 * @throws ConfigurationError when there is no endpoint, one is no http(s) URL, or one is named twice
 */
export function createJsonRpcClient(options: JsonRpcClientOptions): ChainClient {
  const { chainId, now, headTracking = evmHeadTracking } = options
  const endpoints = createEndpoints({ ...options, headTracking })
  const pool = new EndpointPool({
    endpoints,
    headCall: headTracking.call,
    lagBlocksMax: options.lagBlocksMax ?? 5,
    headProbeIntervalMs: options.headProbeIntervalMs ?? 5_000,
    now,
  })
  const defaultTimeoutMs = options.timeoutMs ?? 5_000
  const electorate = {
    voters: endpoints,
    threshold: options.threshold ?? defaultThreshold(countVoices(endpoints)),
  }
  const deadline = (call: RpcOptions) => now() + (call.timeoutMs ?? defaultTimeoutMs)

  async function batch(
    calls: readonly RpcCall[],
    callOptions: RpcOptions = {},
  ): Promise<readonly RpcAnswer[]> {
    if (calls.length === 0) return []
    const { signal, line } = callOptions
    const sending = { deadlineMs: deadline(callOptions), signal, line }
    const candidates = await pool.candidates(sending.deadlineMs)
    const repeatable = isRepeatable(calls)
    const tried = repeatable ? candidates : candidates.slice(0, 1)
    try {
      return await askInTurn(tried, calls, { repeatable, now, ...sending })
    } catch (error) {
      if (!(error instanceof AggregateError)) throw error
      const failures = tried.length > 0 ? error.errors : endpoints.map(excluded)
      throw toUpstreamError(chainId, failures, shortestPauseMs(endpoints))
    }
  }

  const sizes = () => endpoints.map(({ alias, voice, sizes: taken }) => ({ alias, voice, ...taken }))

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
      const { threshold = electorate.threshold, signal, line, project } = callOptions
      const deadlineMs = deadline(callOptions)
      return seekAgreement({ chainId, endpoints, calls, threshold, deadlineMs, signal, line, project })
    },
    poll(calls, { timeoutMs, ...polling }) {
      const deadlineMs = now() + (timeoutMs ?? defaultTimeoutMs)
      return poll({ chainId, endpoints, threshold: electorate.threshold, calls, deadlineMs, ...polling })
    },
    async askEach(calls, callOptions = {}) {
      const { signal, line } = callOptions
      const sending = { deadlineMs: deadline(callOptions), signal, line, evenPaused: true }
      return Promise.all(
        endpoints.map(async (endpoint) => ({
          alias: endpoint.alias,
          voice: endpoint.voice,
          answers: await endpoint.send(calls, sending).catch(ignoreEndpointFailure),
        })),
      )
    },
    probeHeads: () => pool.probeHeads(),
    health: () => pool.health(),
    sizes,
    async trySizes() {
      // Paths are asked one by one.
      if (options.wire === 'paths') return sizes()
      const deadlineMs = now() + defaultTimeoutMs
      await Promise.all(
        endpoints.map(async (endpoint) => {
          const { headBlock } = endpoint.state
          const widest = headBlock === undefined ? undefined : headTracking.widest?.(headBlock)
          const calls = Array.from({ length: callsAtMost }, () => headTracking.call)
          const sending = { deadlineMs, evenPaused: true }
          await endpoint.send(calls, sending).catch(ignoreEndpointFailure)
          if (widest !== undefined) await endpoint.send([widest], sending).catch(ignoreEndpointFailure)
        }),
      )
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

/** The same client where everything waits in one line at endpoints that limit their rate. @source F-65 */
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

type Asking = SendOptions & { readonly repeatable: boolean; readonly now: () => number }

/** @throws AggregateError of `EndpointFailure`, one per endpoint asked */
async function askInTurn(
  endpoints: readonly Endpoint[],
  calls: readonly RpcCall[],
  asking: Asking,
): Promise<readonly RpcAnswer[]> {
  const { deadlineMs, signal, now } = asking
  const [only, ...others] = endpoints
  if (only === undefined) throw new AggregateError([])
  if (others.length === 0) {
    // The usual case on a chain with one endpoint: no second way, no second controller.
    return sendAndRetryOnce(only, calls, asking).catch((failure: unknown) => {
      throw new AggregateError([failure])
    })
  }
  const attempts = endpoints.map(
    (endpoint) => (attemptSignal: AbortSignal) =>
      sendAndRetryOnce(endpoint, calls, { ...asking, signal: attemptSignal }),
  )
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
