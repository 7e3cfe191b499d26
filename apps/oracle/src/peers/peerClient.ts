import type { Tracing } from '@causeway/http'
import { Pool } from 'undici'
import {
  afterFailure,
  afterGivenUp,
  afterSend,
  type BreakerState,
  closedBreaker,
  maySend,
} from './peerBreaker.ts'
import type { Peer } from './settings.ts'

/** Reason that a peer's answer cannot be used. */
export type PeerFailure =
  | 'timeout'
  | 'unreachable'
  | 'redirect'
  | 'status'
  | 'oversize'
  | 'not_json'
  | 'schema'
  /** Not asked: too many requests to it are under way. */
  | 'busy'
  /** Not asked: it failed too often just now. */
  | 'breaker_open'
  /** Not asked: `force` may not travel under this peer's own key. */
  | 'force'

/** Result of asking a peer. */
export type PeerAnswer<Response> =
  | { readonly kind: 'answer'; readonly response: Response }
  | { readonly kind: 'failure'; readonly failure: PeerFailure; readonly status?: number }
  /** This oracle no longer needed the answer. */
  | { readonly kind: 'aborted' }

export type PeerQuestion<Response> = {
  readonly path: string
  /** JSON text. */
  readonly body: string
  /** True for a request with `force`. */
  readonly isForced: boolean
  readonly callerApiKey: string | undefined
  readonly requestId: string | undefined
  /** Aborted with `peerTimeout` at the deadline, with anything else when nobody waits any more. */
  readonly signal: AbortSignal
  /** @throws SyntaxError for text that is no JSON, anything else when it breaks the route's schema */
  readonly parse: (text: string) => Response
}

/** HTTP client of one peer, an entry of `PEERS`. */
export interface PeerClient {
  readonly name: string
  /** True for `pass-through`: the peer is asked with the caller's key, as `PEERS` has none for it. */
  readonly takesCallersKey: boolean
  /** Never rejects. */
  ask<Response>(question: PeerQuestion<Response>): Promise<PeerAnswer<Response>>
  close(): Promise<void>
}

/** The reason of an abort at the deadline. */
export const peerTimeout = new Error('the peers had their time')

/** These bound the work and memory that one peer can take. */
const inFlightMax = 32
const responseBytesMax = 1024 * 1024
const connectTimeoutMs = 2_000

/**
 * Makes the client of one peer. It keeps connections open and has at most `inFlightMax` requests under way.
 * Redirects are failures like any other answer that is not a 200: following one would send the key elsewhere.
 * After several failures in a row the breaker refuses requests for a while; then a single one tries whether
 * the peer answers again.
 * @param options.now milliseconds, for the breaker alone
 * @param options.tracing adds the trace to the request's headers
 */
export function createPeerClient(peer: Peer, options: PeerClientOptions): PeerClient {
  return new HttpPeerClient(peer, options)
}

type PeerClientOptions = { readonly now: () => number; readonly tracing?: Tracing | undefined }

class HttpPeerClient implements PeerClient {
  readonly name: string
  readonly takesCallersKey: boolean
  readonly #peer: Peer
  readonly #options: PeerClientOptions
  readonly #pool: Pool
  readonly #pathPrefix: string
  #inFlight = 0
  #breaker: BreakerState = closedBreaker

  constructor(peer: Peer, options: PeerClientOptions) {
    const { origin, pathname } = new URL(peer.baseUrl)
    this.name = peer.name
    this.takesCallersKey = peer.credential.kind === 'pass-through'
    this.#peer = peer
    this.#options = options
    this.#pathPrefix = pathname === '/' ? '' : pathname
    this.#pool = new Pool(origin, {
      connections: inFlightMax,
      connect: { timeout: connectTimeoutMs },
      // The question's signal limits the whole exchange, so undici's own limits are off.
      headersTimeout: 0,
      bodyTimeout: 0,
    })
  }

  async ask<Response>(question: PeerQuestion<Response>): Promise<PeerAnswer<Response>> {
    const { now, tracing } = this.#options
    if (question.isForced && !mayForwardForce(this.#peer, question.callerApiKey)) return refused('force')
    if (question.signal.aborted) return { kind: 'aborted' }
    if (!maySend(this.#breaker, now())) return refused('breaker_open')
    if (this.#inFlight >= inFlightMax) return refused('busy')
    this.#breaker = afterSend(this.#breaker)
    this.#inFlight += 1
    try {
      const send = () => this.#exchange(question)
      const pendingAnswer =
        tracing === undefined
          ? send()
          : tracing.runSpan('peer request', { 'server.address': this.name }, send, 'client')
      const answer = await pendingAnswer.catch(() => failureOf(question.signal))
      this.#breaker = nextBreaker(this.#breaker, answer, now())
      return answer
    } finally {
      this.#inFlight -= 1
    }
  }

  async #exchange<Response>(question: PeerQuestion<Response>): Promise<PeerAnswer<Response>> {
    const answer = await this.#pool.request({
      method: 'POST',
      path: `${this.#pathPrefix}${question.path}`,
      headers: { ...headersFor(this.#peer, question), ...this.#options.tracing?.headers() },
      body: question.body,
      signal: question.signal,
    })
    if (answer.statusCode !== 200) {
      answer.body.on('error', ignore).destroy()
      const isRedirect = answer.statusCode >= 300 && answer.statusCode < 400
      return { kind: 'failure', failure: isRedirect ? 'redirect' : 'status', status: answer.statusCode }
    }
    const text = await readLimited(answer.body)
    if (text === undefined) return { kind: 'failure', failure: 'oversize' }
    return parseAnswer(text, question.parse)
  }

  async close(): Promise<void> {
    await this.#pool.destroy()
  }
}

/** The breaker's state after an answer. A refusal (4xx) comes from a healthy peer, which may not see the fact yet. */
function nextBreaker(state: BreakerState, answer: PeerAnswer<unknown>, nowMs: number): BreakerState {
  if (answer.kind === 'aborted') return afterGivenUp(state)
  if (answer.kind === 'answer') return closedBreaker
  const { failure, status = 0 } = answer
  return failure === 'status' && status < 500 ? closedBreaker : afterFailure(state, nowMs)
}

/**
 * True where `force` may be sent to the peer. It needs the right of the caller's key; with the key from `PEERS` this
 * oracle itself would be claiming that right. @source rules O-auth-05, P-87
 */
function mayForwardForce({ credential }: Peer, callerApiKey: string | undefined): boolean {
  return credential.kind === 'pass-through' && callerApiKey !== undefined
}

function headersFor({ credential }: Peer, question: PeerQuestion<unknown>): Record<string, string> {
  const key = credential.kind === 'key' ? credential.key.reveal() : question.callerApiKey
  return {
    'content-type': 'application/json',
    accept: 'application/json',
    // Nothing here unpacks a compressed answer.
    'accept-encoding': 'identity',
    ...(key !== undefined && { 'x-api-key': key }),
    ...(question.requestId !== undefined && { 'x-request-id': question.requestId }),
  }
}

/** The body as text; `undefined` once it passes the limit, and the connection is then closed. */
async function readLimited(body: AsyncIterable<Buffer>): Promise<string | undefined> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of body) {
    bytes += chunk.length
    if (bytes > responseBytesMax) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function parseAnswer<Response>(text: string, parse: (text: string) => Response): PeerAnswer<Response> {
  try {
    return { kind: 'answer', response: parse(text) }
  } catch (error) {
    return { kind: 'failure', failure: error instanceof SyntaxError ? 'not_json' : 'schema' }
  }
}

function failureOf(signal: AbortSignal): PeerAnswer<never> {
  if (signal.reason === peerTimeout) return { kind: 'failure', failure: 'timeout' }
  return signal.aborted ? { kind: 'aborted' } : { kind: 'failure', failure: 'unreachable' }
}

function refused(failure: PeerFailure): PeerAnswer<never> {
  return { kind: 'failure', failure }
}

function ignore(): void {
  // Errors of a body that is destroyed on purpose.
}
