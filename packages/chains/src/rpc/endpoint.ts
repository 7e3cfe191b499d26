import { EndpointFailure, type FailureReason } from './endpointFailure.ts'
import {
  type Availability,
  afterCutShort,
  afterFailure,
  afterHead,
  afterSend,
  afterSuccess,
  availability,
  type HealthState,
  initialHealth,
  pauseMs,
} from './endpointHealth.ts'
import type { EndpointTarget } from './endpointUrl.ts'
import type { HeadTracking } from './headTracking.ts'
import {
  createHttpTransport,
  type HeaderSource,
  type HttpAnswer,
  type HttpRequest,
  type HttpTransport,
} from './httpTransport.ts'
import type { RpcAnswer, RpcCall } from './jsonRpc.ts'
import { askPaths, encodeCalls, parseAnswers } from './wire.ts'

export type SendOptions = {
  readonly deadlineMs: number
  readonly signal?: AbortSignal | undefined
  /** Send even while the endpoint is paused: for checks of the endpoint itself. */
  readonly evenPaused?: boolean
}

/** Told what becomes of the exchanges with one endpoint. Must not throw. */
export type EndpointObserver = {
  /** `failure` is undefined where it answered. What was never sent is no exchange. */
  exchanged(seconds: number, failure: FailureReason | undefined): void
  /** It answered, and enough others agreed on something else. */
  outvoted(): void
}

/** How calls travel: as JSON-RPC, or each as a request to the path that its method is. See `askPaths`. */
export type Wire = 'json-rpc' | 'paths'

/** What sets endpoints of one chain apart from those of another. */
export type EndpointDialect = {
  readonly heads: HeadTracking
  readonly headers?: HeaderSource | undefined
  /** Default: JSON-RPC. */
  readonly wire?: Wire | undefined
}

/** Names the observer of each endpoint by its alias. */
export type ObserveEndpoints = (alias: string) => EndpointObserver

/** Silence of this length is a fault of the endpoint; a shorter wait is the caller's haste. */
const hangMs = 1_000

/** Told by alias, of endpoints that answered something else than what was agreed. */
export function noteOutvoted(endpoints: readonly Endpoint[], outvoted: readonly string[]): void {
  for (const endpoint of endpoints) if (outvoted.includes(endpoint.alias)) endpoint.noteOutvoted()
}

/** One endpoint: its connections and what its answers taught about it. */
export class Endpoint {
  readonly alias: string
  /** Endpoints of one host are one voice. */
  readonly voice: string
  readonly #transport: HttpTransport
  readonly #heads: HeadTracking
  readonly #wire: Wire
  readonly #now: () => number
  #state: HealthState = initialHealth
  #nextId = 1
  #observer: EndpointObserver | undefined

  constructor(target: EndpointTarget, { heads, headers, wire }: EndpointDialect, now: () => number) {
    this.alias = target.alias
    this.voice = target.voice
    this.#transport = createHttpTransport(target, now, headers)
    this.#heads = heads
    this.#wire = wire ?? 'json-rpc'
    this.#now = now
  }

  get state(): HealthState {
    return this.#state
  }

  availability(): Availability {
    return availability(this.#state, this.#now())
  }

  pauseMs(): number {
    return pauseMs(this.#state, this.#now())
  }

  observe(observer: EndpointObserver): void {
    this.#observer = observer
  }

  /** Enough others agreed on something else than what it answered. */
  noteOutvoted(): void {
    this.#observer?.outvoted()
  }

  observeHead(headBlock: bigint): void {
    this.#state = afterHead(this.#state, headBlock)
  }

  /** @throws EndpointFailure, with reason `excluded` when nothing was sent because of a pause */
  async send(calls: readonly RpcCall[], options: SendOptions): Promise<readonly RpcAnswer[]> {
    const answers = await this.#learning(options, () => this.#exchange(calls, options))
    this.#learnHead(calls, answers)
    return answers
  }

  /** @throws EndpointFailure, with reason `excluded` when nothing was sent because of a pause */
  fetch(request: HttpRequest, options: SendOptions): Promise<HttpAnswer> {
    const { deadlineMs, signal } = options
    const timeoutMs = Math.max(deadlineMs - this.#now(), 0)
    return this.#learning(options, () => this.#transport.fetch(request, { timeoutMs, signal }))
  }

  async close(): Promise<void> {
    await this.#transport.close()
  }

  /** Sends, and notes what the outcome says about the endpoint. */
  async #learning<Answer>(
    { evenPaused }: Pick<SendOptions, 'evenPaused'>,
    send: () => Promise<Answer>,
  ): Promise<Answer> {
    // Looked at in the same step as the note that a call is out: of many callers one is the probe.
    if (evenPaused !== true && this.availability() === 'closed') {
      throw new EndpointFailure({ alias: this.alias, reason: 'excluded' })
    }
    const startedAtMs = this.#now()
    this.#state = afterSend(this.#state)
    try {
      const answer = await send()
      const elapsedMs = this.#now() - startedAtMs
      this.#state = afterSuccess(this.#state, elapsedMs)
      this.#observer?.exchanged(elapsedMs / 1_000, undefined)
      return answer
    } catch (error) {
      if (error instanceof EndpointFailure) {
        const elapsedMs = this.#now() - startedAtMs
        this.#learnFailure(error, elapsedMs)
        this.#observer?.exchanged(elapsedMs / 1_000, error.reason)
      }
      throw error
    }
  }

  async #exchange(calls: readonly RpcCall[], options: SendOptions): Promise<readonly RpcAnswer[]> {
    const { deadlineMs, signal } = options
    const timeoutMs = Math.max(deadlineMs - this.#now(), 0)
    if (this.#wire === 'paths')
      return askPaths(calls, this.alias, (request) =>
        this.#transport.fetch(request, { timeoutMs: Math.max(deadlineMs - this.#now(), 0), signal }),
      )
    const firstId = this.#nextId
    this.#nextId += calls.length
    const text = await this.#transport.post(encodeCalls(calls, firstId), { timeoutMs, signal })
    return parseAnswers(text, { alias: this.alias, count: calls.length, firstId })
  }

  #learnHead(calls: readonly RpcCall[], answers: readonly RpcAnswer[]): void {
    for (const [index, call] of calls.entries()) {
      const answer = answers[index]
      const head = answer?.ok ? this.#heads.readHead(call, answer.result) : undefined
      if (head !== undefined) this.observeHead(head)
    }
  }

  #learnFailure(failure: EndpointFailure, elapsedMs: number): void {
    const waited = failure.reason === 'timeout' || failure.reason === 'cancelled'
    this.#state =
      waited && elapsedMs < hangMs
        ? afterCutShort(this.#state, elapsedMs, this.#now())
        : afterFailure(this.#state, failure, this.#now())
  }
}
