import {
  type AttestationKind,
  DomainError,
  type Hex,
  type RecoverSigner,
  type SignatureContext,
  startDeadline,
  whenAborted,
} from '@causeway/core'
import type { Tracing } from '@causeway/http'
import { type Aggregation, createAggregation } from './aggregation.ts'
import { createPeerClient, type PeerClient, peerTimeout } from './peerClient.ts'
import { createPeerEvents, type PeerLog, type PeerMetrics } from './peerEvents.ts'
import type { ReadAnswer } from './readAnswers.ts'
import { type Peer, requiredSignatures, type SignerPolicy } from './settings.ts'

export type PeerAggregatorOptions = {
  readonly peers: readonly Peer[]
  readonly policy: SignerPolicy
  /** Lower case. */
  readonly ownSigner: Hex
  readonly context: SignatureContext
  readonly recover: RecoverSigner
  /** `PEER_REQUEST_TIMEOUT_MS`: over the whole exchange with each peer. */
  readonly requestTimeoutMs: number
  readonly log: PeerLog
  readonly metrics: PeerMetrics
  readonly tracing?: Tracing | undefined
  /** Monotonic milliseconds. */
  readonly now: () => number
}

export type PeerRequest<Response> = {
  readonly kind: AttestationKind<Response>
  /** As validated by the route; sent on with `requestPeerSignatures: false`. */
  readonly body: object
  readonly callerApiKey?: string | undefined
  /** True where nobody asks yet: peers that take the caller's own key are then left out. */
  readonly isAhead?: boolean
  readonly requestId?: string | undefined
  /** The caller went away, or the request's own time is over. */
  readonly signal: AbortSignal
  /** This oracle's own signed attestation; its signal ends when nobody waits for it any more. */
  readonly local: (signal: AbortSignal) => Promise<Response>
}

/** An answer and its counts, for `x-quorum-matched` and `x-quorum-required`. */
export type PeerResult<Response> = {
  readonly response: Response
  readonly matched: number
  readonly required: number
}

/** Who asks for no peers, or where none is configured, is answered without it. */
export interface PeerAggregator {
  /**
   * Attests locally and by all peers at once.
   * @throws NoSignerGroupError, or what the local attestation threw, when there is nothing to answer with
   */
  run<Response extends object>(request: PeerRequest<Response>): Promise<PeerResult<Response>>
  /** Ends every connection. */
  close(): Promise<void>
}

/** @source oracle-protocol.md 7.1, 7.3; attestation-oracle.md, Peer aggregation and quorum */
export function createPeerAggregator(options: PeerAggregatorOptions): PeerAggregator {
  const clients = options.peers.map((peer) => createPeerClient(peer, options))
  const keyed = clients.filter(({ takesCallersKey }) => !takesCallersKey)
  return {
    run: (request) => attestWithPeers(request, request.isAhead ? keyed : clients, options),
    async close() {
      await Promise.all(clients.map((client) => client.close()))
    },
  }
}

type LocalOutcome = { readonly isFailed: false } | { readonly isFailed: true; readonly error: unknown }

async function attestWithPeers<Response extends object>(
  request: PeerRequest<Response>,
  clients: readonly PeerClient[],
  options: PeerAggregatorOptions,
): Promise<PeerResult<Response>> {
  const { kind, signal } = request
  const { policy } = options
  const body: Readonly<Record<string, unknown>> = { ...request.body }
  const events = createPeerEvents({ ...options, route: kind.path, requestId: request.requestId })
  const aggregation = createAggregation({ ...options, kind, request: body })
  // Ends with the caller, or with an answer that is complete; the peers' time ends nothing but the asking of peers.
  const waiting = startDeadline(signal)
  const asking = startDeadline(waiting.signal, options.requestTimeoutMs, () => peerTimeout)
  const answered = new Map<string, number>()
  let outcome: LocalOutcome = { isFailed: false }
  /** What comes from now on has no part. */
  const isOver = () => waiting.signal.aborted

  async function attestLocally(): Promise<void> {
    try {
      const response = await request.local(waiting.signal)
      if (!isOver() && aggregation.add(response, undefined)) waiting.end()
    } catch (error) {
      if (isOver()) return
      outcome = { isFailed: true, error }
      if (policy.signers !== undefined) events.localFailed(error)
    }
  }

  async function ask(client: PeerClient, text: string): Promise<void> {
    const startedAt = options.now()
    const answer = await client.ask({
      path: kind.path,
      body: text,
      isForced: body['force'] === true,
      callerApiKey: request.callerApiKey,
      requestId: request.requestId,
      signal: asking.signal,
      parse: (answerText) => aggregation.read(answerText),
    })
    const seconds = (options.now() - startedAt) / 1_000
    if (answer.kind === 'failure') events.peerFailed(client.name, answer.failure, seconds, answer.status)
    else if (answer.kind === 'aborted' || isOver()) events.peerAborted(client.name, seconds)
    else {
      const isComplete = addAnswer(answer.response, client.name)
      if (isComplete === undefined) events.peerFailed(client.name, 'schema', seconds)
      else answered.set(client.name, seconds)
      if (isComplete === true) waiting.end()
    }
  }

  /** Whatever a peer sends, it must not end the request: `undefined` when its answer cannot be read. */
  function addAnswer(read: ReadAnswer<Response>, peer: string): boolean | undefined {
    try {
      return aggregation.addRead(read, peer)
    } catch {
      return undefined
    }
  }

  const text = JSON.stringify({ ...body, requestPeerSignatures: false })
  const all = Promise.all([attestLocally(), ...clients.map((client) => ask(client, text))])
  try {
    await Promise.race([all, endOf(waiting.signal)])
  } finally {
    waiting.end()
    asking.release()
  }
  signal.throwIfAborted()
  return conclude(aggregation, outcome, { policy, events, answered })
}

function conclude<Response>(
  aggregation: Aggregation<Response>,
  local: LocalOutcome,
  parts: {
    policy: SignerPolicy
    events: ReturnType<typeof createPeerEvents>
    answered: ReadonlyMap<string, number>
  },
): PeerResult<Response> {
  const { policy, events, answered } = parts
  if (local.isFailed && policy.signers === undefined) throw local.error
  const aggregate = aggregation.conclude()
  if (aggregate === undefined) {
    events.noGroup(requiredSignatures(policy))
    throw local.isFailed ? local.error : new NoSignerGroupError()
  }
  events.concluded(aggregate, answered)
  const { response, matched, required } = aggregate
  return { response, matched, required }
}

/** Resolves with the signal's end, whatever its reason is. */
function endOf(signal: AbortSignal): Promise<void> {
  return whenAborted(signal).catch(() => undefined)
}

/** Nobody whose signature counts said anything about the request. */
class NoSignerGroupError extends DomainError {
  readonly code = 'NO_SIGNER_GROUP'
  readonly kind = 'invalid_request'

  constructor() {
    super('No listed oracle signed an answer to this request.')
  }
}
