import { type AttestationKind, DomainError, type RecoverSigner, type SignatureContext } from '@causeway/core'
import { type Aggregation, createAggregation, type ReadAnswer } from './aggregation.ts'
import { createPeerClient, type PeerClient, peerTimeout } from './peerClient.ts'
import { createPeerEvents, type PeerLog, type PeerMetrics } from './peerEvents.ts'
import type { Peer, SignerPolicy } from './settings.ts'

export type PeerAggregatorOptions = {
  readonly peers: readonly Peer[]
  readonly policy: SignerPolicy
  readonly context: SignatureContext
  readonly recover: RecoverSigner
  /** `PEER_REQUEST_TIMEOUT_MS`: over the whole exchange with each peer. */
  readonly requestTimeoutMs: number
  readonly log: PeerLog
  readonly metrics: PeerMetrics
  /** Monotonic milliseconds. */
  readonly now: () => number
}

export type PeerRequest<Response> = {
  readonly kind: AttestationKind<Response>
  /** As validated by the route; sent on with `requestPeerSignatures: false`. */
  readonly body: object
  readonly callerApiKey?: string | undefined
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

export interface PeerAggregator {
  /**
   * Attests locally and, when the body asks for it and there are peers, by all of them at once.
   * @throws NoSignerGroupError, or what the local attestation threw, when there is nothing to answer with
   */
  run<Response extends object>(request: PeerRequest<Response>): Promise<PeerResult<Response>>
  /** Ends every connection. */
  close(): Promise<void>
}

/** @source oracle-protocol.md 7.1, 7.3; attestation-oracle.md, Peer aggregation and quorum */
export function createPeerAggregator(options: PeerAggregatorOptions): PeerAggregator {
  const clients = options.peers.map((peer) => createPeerClient(peer, { now: options.now }))
  return {
    async run(request) {
      const body: Readonly<Record<string, unknown>> = { ...request.body }
      if (body['requestPeerSignatures'] === true && clients.length > 0) {
        return runWithPeers({ ...request, body }, clients, options)
      }
      const response = await request.local(request.signal)
      // Counted for who asks for it: it hashes the whole answer.
      const isCounted = body['requestPeerSignatures'] === true
      const isSigned = isCounted && request.kind.signatureArrays(response, options.context).length > 0
      return { response, matched: isSigned ? 1 : 0, required: requiredOf(options.policy) }
    },
    async close() {
      await Promise.all(clients.map((client) => client.close()))
    },
  }
}

type LocalOutcome = { readonly isFailed: false } | { readonly isFailed: true; readonly error: unknown }

async function runWithPeers<Response extends object>(
  request: PeerRequest<Response> & { readonly body: Readonly<Record<string, unknown>> },
  clients: readonly PeerClient[],
  options: PeerAggregatorOptions,
): Promise<PeerResult<Response>> {
  const { kind, body, signal } = request
  const { policy } = options
  const events = createPeerEvents({ ...options, route: kind.path, requestId: request.requestId })
  const aggregation = createAggregation({ ...options, kind, request: body })
  const stop = createStop(signal, options.requestTimeoutMs)
  const answered = new Map<string, number>()
  let outcome: LocalOutcome = { isFailed: false }
  let isOver = false

  async function attestLocally(): Promise<void> {
    try {
      const response = await request.local(stop.local)
      if (!isOver) stop.whenComplete(aggregation.add(response, undefined))
    } catch (error) {
      if (isOver) return
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
      signal: stop.peers,
      parse: (answerText) => aggregation.read(answerText),
    })
    const seconds = (options.now() - startedAt) / 1_000
    if (answer.kind === 'failure') events.peerFailed(client.name, answer.failure, seconds, answer.status)
    else if (answer.kind === 'aborted' || isOver) events.peerAborted(client.name, seconds)
    else {
      const isComplete = addAnswer(answer.response, client.name)
      if (isComplete === undefined) events.peerFailed(client.name, 'schema', seconds)
      else answered.set(client.name, seconds)
      stop.whenComplete(isComplete === true)
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
  try {
    await stop.firstOf(Promise.all([attestLocally(), ...clients.map((client) => ask(client, text))]))
  } finally {
    isOver = true
    stop.end()
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
    events.noGroup(requiredOf(policy))
    throw local.isFailed ? local.error : new NoSignerGroupError()
  }
  events.concluded(aggregate, answered)
  const { response, matched, required } = aggregate
  return { response, matched, required }
}

/** Without an allowlist there is no threshold: our own signature is all that is required. */
function requiredOf({ signers, threshold }: SignerPolicy): number {
  return signers === undefined ? 1 : threshold
}

/** Ends waiting, and whatever is still under way, exactly once. */
function createStop(caller: AbortSignal, timeoutMs: number) {
  const peers = new AbortController()
  const local = new AbortController()
  let complete: () => void = () => undefined
  const completed = new Promise<void>((resolve) => {
    complete = resolve
  })
  const timer = setTimeout(() => peers.abort(peerTimeout), timeoutMs)
  const end = () => {
    clearTimeout(timer)
    caller.removeEventListener('abort', leave)
    peers.abort(overNow)
    local.abort(overNow)
  }
  const leave = () => {
    end()
    complete()
  }
  if (caller.aborted) leave()
  else caller.addEventListener('abort', leave, { once: true })
  return {
    peers: peers.signal,
    local: local.signal,
    whenComplete(isComplete: boolean): void {
      if (isComplete) complete()
    },
    firstOf: (all: Promise<unknown>): Promise<unknown> => Promise.race([all, completed]),
    end,
  }
}

const overNow = new Error('the answer is complete, or nobody waits for it')

/** Nobody whose signature counts said anything about the request. */
class NoSignerGroupError extends DomainError {
  readonly code = 'NO_SIGNER_GROUP'
  readonly kind = 'invalid_request'

  constructor() {
    super('No listed oracle signed an answer to this request.')
  }
}
