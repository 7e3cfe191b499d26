import { type Evidence, startDeadline, UpstreamDisagreementError } from '@causeway/core'
import { shortestPauseMs } from './agreement.ts'
import { refusalError, TransactionNotFinalError } from './chainErrors.ts'
import type { ChainClient } from './client.ts'
import { createEndpoints, type EndpointToCreate } from './createEndpoints.ts'
import { type Endpoint, noteOutvoted, type ObserveEndpoints, type Wire } from './endpoint.ts'
import { EndpointView, type ViewLimits } from './endpointView.ts'
import { evmHeadTracking, type HeadTracking } from './headTracking.ts'
import { HttpView } from './httpView.ts'
import { type QuorumQuestion, readByQuorum, toEndpointFailure } from './readByQuorum.ts'
import { countVoices, defaultThreshold, type Voter } from './tally.ts'
import { toUpstreamError } from './upstreamError.ts'

export type QuorumClientOptions = {
  /** String id of the chain in the configuration, e.g. `base`. */
  readonly chainId: string
  readonly endpoints: readonly EndpointToCreate[]
  /** Voices that must agree; default ceil(2n/3) of the configured ones. */
  readonly threshold?: number
  /** Milliseconds of a clock that is never set. Default: this process's. */
  readonly now?: (() => number) | undefined
  readonly limits?: Partial<QuorumLimits>
  /** Default: `eth_blockNumber`. */
  readonly headTracking?: HeadTracking
  /** Default: JSON-RPC. */
  readonly wire?: Wire
}

export type QuorumLimits = ViewLimits & {
  /** Budget of one reading, all rounds included. Default 7 000: an answer is due within 8 s. */
  readonly readingTimeoutMs: number
  /** After enough endpoints' first readings, late ones have so many ms to take part in `pin`. Default 250. */
  readonly patienceMs: number
}

/** One endpoint, as a family's questions address it: an `EndpointView`, `HttpView` or a family's own view. */
export type EndpointSource = { readonly alias: string }

/**
 * A question to all endpoints in two rounds, see `QuorumQuestion`: `first`, then `pin` once, which chooses the height
 * that `second` reads at.
 */
export type ChainQuestion<First, Pin, Facts, View extends EndpointSource = EndpointView> = Pick<
  QuorumQuestion<View, First, Pin, Facts>,
  'first' | 'pin' | 'second' | 'key' | 'confirms'
> & {
  /** Transaction that the question is about, for errors. */
  readonly transactionId?: string | undefined
  readonly signal: AbortSignal
}

/** Facts on which a quorum agrees. */
export type AgreedFacts<Facts> = {
  readonly facts: Facts
  readonly agreeingEndpoints: Evidence['agreeingEndpoints']
}

/** Health of one endpoint, for metrics. */
export type QuorumEndpointHealth = {
  readonly alias: string
  /** False while its breaker is open, or after it asked for a pause. */
  readonly isAsked: boolean
  /** Moving average over answered calls; `undefined` before the first. */
  readonly latencyMs: number | undefined
}

/**
 * Reads facts for signatures and payments: asks all endpoints of a chain, and returns only answers that at least
 * `threshold` of the configured voices share. @source rule P-107
 */
export interface QuorumClient<View extends EndpointSource = EndpointView> {
  readonly chainId: string
  /** Number of configured voices; endpoints of one host are one voice. */
  readonly configured: number
  readonly threshold: number
  /**
   * @throws TransactionMissingError, TransactionRevertedError, TransactionTooLargeError,
   * TransactionUnreadableError, TransactionNotFinalError, UpstreamDisagreementError, UpstreamUnavailableError
   */
  read<First, Pin, Facts>(question: ChainQuestion<First, Pin, Facts, View>): Promise<AgreedFacts<Facts>>
  /** Answer of each endpoint by itself; `undefined` if it gives no usable answer. For checks of the endpoints. */
  askEach<Said>(
    ask: (view: View, signal: AbortSignal) => Promise<Said>,
    signal: AbortSignal,
  ): Promise<readonly (Voter & { readonly said: Said | undefined })[]>
  /** Current health of each endpoint, for metrics. Makes no request. */
  health(): readonly QuorumEndpointHealth[]
  /** Registers listeners for later events of its endpoints, for metrics. */
  observe(observerOf: ObserveEndpoints): void
  close(): Promise<void>
}

const defaultLimits: QuorumLimits = {
  requestsInFlightMax: 16,
  callsPerRequestMax: 40,
  callsWaitingMax: 2_000,
  requestTimeoutMs: 3_000,
  readingTimeoutMs: 7_000,
  patienceMs: 250,
}

/**
 * A quorum of JSON-RPC endpoints. Opens no connection before the first reading.
 * @throws ConfigurationError when there is no endpoint, one is no http(s) URL, or one is named twice
 */
export function createQuorumClient(options: QuorumClientOptions): QuorumClient {
  return createQuorum(options, (endpoint, limits) => new EndpointView(endpoint, limits))
}

/**
 * A quorum over a client's own endpoints, with its threshold, so that both share what they learn about endpoints. The
 * client closes the connections; `close` of the quorum does nothing.
 */
export function createQuorumOver(client: OwnEndpoints): QuorumClient {
  return createViewedQuorum(client, (view) => view)
}

type OwnEndpoints = Pick<ChainClient, 'chainId' | 'endpoints' | 'electorate'>

/** As `createQuorumOver`, for a family with its own kind of view. */
export function createViewedQuorum<View extends EndpointSource>(
  { chainId, endpoints, electorate }: OwnEndpoints,
  viewOf: (view: EndpointView) => View,
): QuorumClient<View> {
  return quorumOf({
    chainId,
    endpoints,
    sources: endpoints.map((endpoint) => viewOf(new EndpointView(endpoint, defaultLimits))),
    threshold: electorate.threshold,
    limits: defaultLimits,
    close: async () => {},
  })
}

/** A quorum of endpoints that answer HTTP requests with text or JSON; otherwise as `createQuorumClient`. */
export function createHttpQuorumClient(options: QuorumClientOptions): QuorumClient<HttpView> {
  return createQuorum(options, (endpoint, limits) => new HttpView(endpoint, limits))
}

/** As `createQuorumOver`, for a family with its own kind of view over HTTP endpoints. */
export function createHttpQuorumOver<View extends EndpointSource>(
  { chainId, endpoints, electorate }: OwnEndpoints,
  viewOf: (view: HttpView) => View,
): QuorumClient<View> {
  return quorumOf({
    chainId,
    endpoints,
    sources: endpoints.map((endpoint) => viewOf(new HttpView(endpoint, defaultLimits))),
    threshold: electorate.threshold,
    limits: defaultLimits,
    close: async () => {},
  })
}

/** As `createQuorumClient`, for a family with its own kind of view. */
export function createQuorum<View extends EndpointSource>(
  options: QuorumClientOptions,
  createView: (endpoint: Endpoint, limits: QuorumLimits) => View,
): QuorumClient<View> {
  const { chainId } = options
  const limits = { ...defaultLimits, ...options.limits }
  const endpoints = createEndpoints({ headTracking: evmHeadTracking, ...options })
  return quorumOf({
    chainId,
    endpoints,
    sources: endpoints.map((endpoint) => createView(endpoint, limits)),
    threshold: options.threshold ?? defaultThreshold(countVoices(endpoints)),
    limits,
    async close() {
      await Promise.all(endpoints.map((endpoint) => endpoint.close()))
    },
  })
}

const healthOf = (endpoint: Endpoint): QuorumEndpointHealth => ({
  alias: endpoint.alias,
  isAsked: endpoint.availability() !== 'closed',
  latencyMs: endpoint.state.latencyMs,
})

function quorumOf<View extends EndpointSource>(parts: {
  readonly chainId: string
  readonly endpoints: readonly Endpoint[]
  readonly sources: readonly View[]
  readonly threshold: number
  readonly limits: QuorumLimits
  readonly close: () => Promise<void>
}): QuorumClient<View> {
  const { chainId, endpoints, sources, threshold, limits, close } = parts
  return {
    chainId,
    configured: countVoices(endpoints),
    threshold,
    async read({ transactionId, signal, ...question }) {
      const { patienceMs, readingTimeoutMs } = limits
      const { outcome, failures, outvoted } = await readByQuorum({
        ...question,
        sources,
        electorate: { voters: endpoints, threshold },
        patienceMs,
        deadline: startDeadline(signal, readingTimeoutMs),
      })
      noteOutvoted(endpoints, outvoted)
      switch (outcome.status) {
        case 'agreed':
          return { facts: outcome.facts, agreeingEndpoints: [...outcome.aliases].sort() }
        case 'not_final':
          throw new TransactionNotFinalError({ chainId, transactionId, waitSeconds: outcome.waitSeconds })
        case 'refused':
          throw refusalError(outcome.reason, { chainId, transactionId })
        case 'disagreed':
          throw new UpstreamDisagreementError(`The endpoints of chain ${chainId} contradict each other.`, {
            data: { chainId, differentAnswers: outcome.groups },
            cause: new AggregateError(failures),
          })
        case 'silent':
          throw toUpstreamError(chainId, failures, shortestPauseMs(endpoints))
      }
    },
    askEach(ask, signal) {
      return Promise.all(
        sources.map(async (source, index) => {
          const { alias } = source
          const answer = await ask(source, signal).catch((error: unknown) => {
            // Throws where the error is a bug.
            toEndpointFailure(error, alias)
            return undefined
          })
          return { alias, voice: endpoints[index]?.voice ?? alias, said: answer }
        }),
      )
    },
    health: () => endpoints.map(healthOf),
    observe(observerOf) {
      for (const endpoint of endpoints) endpoint.observe(observerOf(endpoint.alias))
    },
    close,
  }
}
