import type { Tracing } from '@causeway/http'
import { Pool } from 'undici'
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

export type PeerAnswer<Response> =
  | { readonly kind: 'answer'; readonly response: Response }
  | { readonly kind: 'failure'; readonly failure: PeerFailure; readonly status?: number }
  /** Given up by us, not by the peer. */
  | { readonly kind: 'aborted' }

export type PeerQuestion<Response> = {
  readonly path: string
  /** JSON text. */
  readonly body: string
  readonly isForced: boolean
  readonly callerApiKey: string | undefined
  readonly requestId: string | undefined
  /** Aborted with `peerTimeout` at the deadline, with anything else when nobody waits any more. */
  readonly signal: AbortSignal
  /** @throws SyntaxError for text that is no JSON, anything else when it breaks the route's schema */
  readonly parse: (text: string) => Response
}

/** The one peer of one entry of `PEERS`. */
export interface PeerClient {
  readonly name: string
  /** `pass-through`: it has no key of its own here. */
  readonly takesCallersKey: boolean
  /** Never rejects. */
  ask<Response>(question: PeerQuestion<Response>): Promise<PeerAnswer<Response>>
  close(): Promise<void>
}

/** The reason of an abort at the deadline. */
export const peerTimeout = new Error('the peers had their time')

/** @source ledger-and-safety.md 3.5, 4.8 */
const inFlightMax = 32
const responseBytesMax = 1024 * 1024
const connectTimeoutMs = 2_000

/**
 * Asks one peer over kept connections, at most `inFlightMax` at a time. Redirects are failures like any
 * other answer that is not a 200: following one would carry the key elsewhere.
 * @param options.now milliseconds, for the breaker alone
 * @param options.tracing a peer hears of the trace that it takes part in
 */
export function createPeerClient(
  peer: Peer,
  options: { readonly now: () => number; readonly tracing?: Tracing | undefined },
): PeerClient {
  const { tracing } = options
  const { origin, pathname } = new URL(peer.baseUrl)
  const pathPrefix = pathname === '/' ? '' : pathname
  const pool = new Pool(origin, {
    connections: inFlightMax,
    connect: { timeout: connectTimeoutMs },
    // One deadline rules the whole exchange; these would only fire beside it.
    headersTimeout: 0,
    bodyTimeout: 0,
  })
  let inFlight = 0
  let breaker: BreakerState = closedBreaker

  async function exchange<Response>(question: PeerQuestion<Response>): Promise<PeerAnswer<Response>> {
    const answer = await pool.request({
      method: 'POST',
      path: `${pathPrefix}${question.path}`,
      headers: { ...headersFor(peer, question), ...tracing?.headers() },
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

  return {
    name: peer.name,
    takesCallersKey: peer.credential.kind === 'pass-through',
    async ask(question) {
      if (question.isForced && !mayForwardForce(peer, question.callerApiKey)) return refused('force')
      if (question.signal.aborted) return { kind: 'aborted' }
      if (!maySend(breaker, options.now())) return refused('breaker_open')
      if (inFlight >= inFlightMax) return refused('busy')
      breaker = afterSend(breaker)
      inFlight += 1
      try {
        const send = () => exchange(question)
        const pendingAnswer =
          tracing === undefined
            ? send()
            : tracing.during('peer request', { 'server.address': peer.name }, send, 'client')
        const answer = await pendingAnswer.catch(() => failureOf(question.signal))
        breaker = nextBreaker(breaker, answer, options.now())
        return answer
      } finally {
        inFlight -= 1
      }
    },
    async close() {
      await pool.destroy()
    },
  }
}

/**
 * `force` unlocks what needs a key of our own callers; under the peer's key it would be asked for by
 * this oracle itself. @source design.md 7.7
 */
function mayForwardForce({ credential }: Peer, callerApiKey: string | undefined): boolean {
  return credential.kind === 'pass-through' && callerApiKey !== undefined
}

function headersFor({ credential }: Peer, question: PeerQuestion<unknown>): Record<string, string> {
  const key = credential.kind === 'key' ? credential.key.reveal() : question.callerApiKey
  return {
    'content-type': 'application/json',
    accept: 'application/json',
    'accept-encoding': 'identity',
    ...(key !== undefined && { 'x-api-key': key }),
    ...(question.requestId !== undefined && { 'x-request-id': question.requestId }),
  }
}

/** `undefined` once the body passes the limit; the connection is closed then. */
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

/** A refusal (4xx) is an answer of a healthy peer: it may not see the fact yet. */
function nextBreaker(state: BreakerState, answer: PeerAnswer<unknown>, nowMs: number): BreakerState {
  if (answer.kind === 'aborted') return afterGivenUp(state)
  if (answer.kind === 'answer') return closedBreaker
  const { failure, status = 0 } = answer
  return failure === 'status' && status < 500 ? closedBreaker : afterFailure(state, nowMs)
}

function ignore(): void {
  // The body was given up on purpose.
}

/** State of one peer's circuit breaker. Immutable: every event makes a new state. */
export type BreakerState = {
  readonly consecutiveFailures: number
  /** Before this time nothing is sent; 0 while closed. */
  readonly openUntilMs: number
  /** True while the one request that decides between open and closed is out. */
  readonly isProbing: boolean
}

export const closedBreaker: BreakerState = { consecutiveFailures: 0, openUntilMs: 0, isProbing: false }

/** @source ledger-and-safety.md 4.7 */
const failuresToOpen = 5
const pauseMs = 5_000

export function maySend({ openUntilMs, isProbing }: BreakerState, nowMs: number): boolean {
  return openUntilMs === 0 || (nowMs >= openUntilMs && !isProbing)
}

/** A request goes out; on an open breaker it is the probe. */
export function afterSend(state: BreakerState): BreakerState {
  return state.openUntilMs === 0 ? state : { ...state, isProbing: true }
}

export function afterFailure(state: BreakerState, nowMs: number): BreakerState {
  const consecutiveFailures = state.consecutiveFailures + 1
  const isOpen = consecutiveFailures >= failuresToOpen
  return { consecutiveFailures, openUntilMs: isOpen ? nowMs + pauseMs : 0, isProbing: false }
}

/** The request was given up because the answer was complete without it: that proves nothing. */
export function afterGivenUp(state: BreakerState): BreakerState {
  return { ...state, isProbing: false }
}
