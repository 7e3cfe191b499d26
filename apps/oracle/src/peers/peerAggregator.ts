import type { AttestationKind, SignatureContext } from '@causeway/attestations'
import {
  type Deadline,
  DomainError,
  type Hex,
  type RecoverSigner,
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
  /** True before any caller asked: peers that are asked with the caller's key are then left out. */
  readonly isAhead?: boolean
  readonly requestId?: string | undefined
  /** Aborted when the caller went away, or the request's time is over. */
  readonly signal: AbortSignal
  /** Makes this oracle's own signed attestation; its signal is aborted when nobody waits for it any more. */
  readonly local: (signal: AbortSignal) => Promise<Response>
}

/** An answer and its counts, for `x-quorum-matched` and `x-quorum-required`. */
export type PeerResult<Response> = {
  readonly response: Response
  readonly matched: number
  readonly required: number
}

/** Attests with all peers, for requests with `requestPeerSignatures`. */
export interface PeerAggregator {
  /**
   * Attests locally and by all peers at once.
   * @throws NoSignerGroupError, or what the local attestation threw, when there is nothing to answer with
   */
  run<Response extends object>(request: PeerRequest<Response>): Promise<PeerResult<Response>>
  /** Ends every connection. */
  close(): Promise<void>
}

/** @source rules O-quorum-01 to O-quorum-09 */
export function createPeerAggregator(options: PeerAggregatorOptions): PeerAggregator {
  const clients = options.peers.map((peer) => createPeerClient(peer, options))
  const keyed = clients.filter(({ takesCallersKey }) => !takesCallersKey)
  return {
    run: (request) => new PeeredAttestation(request, options).attest(request.isAhead ? keyed : clients),
    async close() {
      await Promise.all(clients.map((client) => client.close()))
    },
  }
}

/** Outcome of this oracle's own attestation. */
type LocalOutcome = { readonly isFailed: false } | { readonly isFailed: true; readonly error: unknown }

/**
 * One request, with this oracle and its peers at once. It waits until all have answered or failed, until an
 * answer completes a quorum, or until the caller leaves. Answers after that change nothing. The peers' time
 * limit ends only the requests to them.
 */
class PeeredAttestation<Response extends object> {
  readonly #request: PeerRequest<Response>
  readonly #options: PeerAggregatorOptions
  readonly #body: Readonly<Record<string, unknown>>
  readonly #events: ReturnType<typeof createPeerEvents>
  readonly #aggregation: Aggregation<Response>
  /** Ends when the caller leaves, or the answer has a quorum. */
  readonly #waiting: Deadline
  /** Ends also after the peers' time limit, which does not end the local attestation. */
  readonly #asking: Deadline
  /** Seconds that each peer took whose answer could be read. */
  readonly #answered = new Map<string, number>()
  #local: LocalOutcome = { isFailed: false }

  constructor(request: PeerRequest<Response>, options: PeerAggregatorOptions) {
    const { kind, signal, requestId } = request
    this.#request = request
    this.#options = options
    this.#body = { ...request.body }
    this.#events = createPeerEvents({ ...options, route: kind.path, requestId })
    this.#aggregation = createAggregation({ ...options, kind, request: this.#body })
    this.#waiting = startDeadline(signal)
    this.#asking = startDeadline(this.#waiting.signal, options.requestTimeoutMs, () => peerTimeout)
  }

  async attest(clients: readonly PeerClient[]): Promise<PeerResult<Response>> {
    const text = JSON.stringify({ ...this.#body, requestPeerSignatures: false })
    const attestations = Promise.all([
      this.#attestLocally(),
      ...clients.map((client) => this.#ask(client, text)),
    ])
    try {
      await Promise.race([attestations, endOf(this.#waiting.signal)])
    } finally {
      this.#waiting.end()
      // The signal of `#asking` was aborted with that of `#waiting`: only its timer is left.
      this.#asking.release()
    }
    this.#request.signal.throwIfAborted()
    return this.#conclude()
  }

  async #attestLocally(): Promise<void> {
    try {
      const response = await this.#request.local(this.#waiting.signal)
      if (!this.#isOver() && this.#aggregation.add(response, undefined)) this.#waiting.end()
    } catch (error) {
      if (this.#isOver()) return
      this.#local = { isFailed: true, error }
      // Without `ORACLE_SIGNERS` the caller gets this error, so it is not logged here.
      if (this.#options.policy.signers !== undefined) this.#events.localFailed(error)
    }
  }

  async #ask(client: PeerClient, text: string): Promise<void> {
    const { kind, callerApiKey, requestId } = this.#request
    const startedAt = this.#options.now()
    const answer = await client.ask({
      path: kind.path,
      body: text,
      isForced: this.#body['force'] === true,
      callerApiKey,
      requestId,
      signal: this.#asking.signal,
      parse: (answerText) => this.#aggregation.read(answerText),
    })
    const seconds = (this.#options.now() - startedAt) / 1_000
    const { name } = client
    if (answer.kind === 'failure') this.#events.peerFailed(name, answer.failure, seconds, answer.status)
    else if (answer.kind === 'aborted' || this.#isOver()) this.#events.peerAborted(name, seconds)
    else {
      const isComplete = this.#addAnswer(answer.response, name)
      if (isComplete === undefined) this.#events.peerFailed(name, 'schema', seconds)
      else this.#answered.set(name, seconds)
      if (isComplete === true) this.#waiting.end()
    }
  }

  /** True once waiting has ended: later answers are ignored. */
  #isOver(): boolean {
    return this.#waiting.signal.aborted
  }

  /** Adds a peer's answer; `undefined` if it is malformed, which must not fail the request. */
  #addAnswer(answer: ReadAnswer<Response>, peer: string): boolean | undefined {
    try {
      return this.#aggregation.addRead(answer, peer)
    } catch {
      return undefined
    }
  }

  #conclude(): PeerResult<Response> {
    const { policy } = this.#options
    const local = this.#local
    // Without `ORACLE_SIGNERS` only signatures under this oracle's own payload count, and there is none.
    if (local.isFailed && policy.signers === undefined) throw local.error
    const aggregate = this.#aggregation.conclude()
    if (aggregate === undefined) {
      this.#events.noGroup(requiredSignatures(policy))
      throw local.isFailed ? local.error : new NoSignerGroupError()
    }
    this.#events.concluded(aggregate, this.#answered)
    const { response, matched, required } = aggregate
    return { response, matched, required }
  }
}

/** Resolves when the signal is aborted, for whatever reason. */
function endOf(signal: AbortSignal): Promise<void> {
  return whenAborted(signal).catch(() => undefined)
}

/** No counted signer answered the request. */
class NoSignerGroupError extends DomainError {
  readonly code = 'NO_SIGNER_GROUP'
  readonly kind = 'invalid_request'

  constructor() {
    super('No listed oracle signed an answer to this request.')
  }
}
