import { askInParts } from './askInParts.ts'
import { EndpointFailure, type FailureReason, mayBeForName } from './endpointFailure.ts'
import {
  type Availability,
  afterCutShort,
  afterFailure,
  afterHead,
  afterNamedFailure,
  afterRefusal,
  afterSend,
  afterSuccess,
  availability,
  type HealthState,
  initialHealth,
  isSuspect,
  pauseMs,
} from './endpointHealth.ts'
import { EndpointSizes, isSmallest, mayBeForSize } from './endpointSizes.ts'
import type { EndpointTarget } from './endpointUrl.ts'
import type { HeadTracking } from './headTracking.ts'
import {
  answerBytesMax,
  createHttpTransport,
  type HeaderSource,
  type HttpAnswer,
  type HttpRequest,
  type HttpTransport,
  type SendingOptions,
} from './httpTransport.ts'
import type { RpcAnswer, RpcCall, Sizes } from './jsonRpc.ts'
import { retryTemporary } from './repeatedSending.ts'
import { RequestPace, type Turn } from './requestPace.ts'
import { askPaths, encodeCalls, parseAnswers, refusalIn, refuseHollow, saidMax } from './wire.ts'

export type SendOptions = Turn & {
  /** Send even while the endpoint is paused: for checks of the endpoint itself. */
  readonly evenPaused?: boolean
}

/** Observer of one endpoint, for metrics. Must not throw. */
export type EndpointObserver = {
  /** A request was sent; `failure` is undefined if it was answered. */
  exchanged(seconds: number, failure: FailureReason | undefined): void
  /** The endpoint answered, and enough others agreed on another answer. */
  outvoted(): void
}

/** Encoding of calls: JSON-RPC, or an HTTP request for each call, whose method is the path. See `askPaths`. */
export type Wire = 'json-rpc' | 'paths'

/** In what the endpoints of a chain may differ from those of other chains. */
export type EndpointDialect = {
  readonly heads: HeadTracking
  readonly headers?: HeaderSource | undefined
  /** Default: JSON-RPC. */
  readonly wire?: Wire | undefined
}

/** Makes the observer of an endpoint, by its alias. */
export type ObserveEndpoints = (alias: string) => EndpointObserver

/** After this time an unanswered call is the endpoint's failure; before it the caller's deadline was too short. */
const hangMs = 1_000

/** The last reading of a large answer, which the next one waits for: across all endpoints, to bound memory. */
let largeAnswer: Promise<unknown> = Promise.resolve()

/** Interval and timeout of `#checkHead`. */
const headCheckMs = { every: 1_000, timeout: 2_000 }

/** Notes at the named endpoints that enough others agreed on another answer. */
export function noteOutvoted(endpoints: readonly Endpoint[], outvoted: readonly string[]): void {
  for (const endpoint of endpoints) if (outvoted.includes(endpoint.alias)) endpoint.noteOutvoted()
}

/**
 * One endpoint of a chain: its connections, and what its answers have taught about its health, head, request sizes and
 * rate. Clients and quorums share the endpoints of a chain.
 */
export class Endpoint {
  readonly alias: string
  /** Endpoints of one host are one voice. */
  readonly voice: string
  /** Milliseconds of the clock that deadlines are given in. */
  readonly now: () => number
  readonly #transport: HttpTransport
  readonly #heads: HeadTracking
  readonly #wire: Wire
  #state: HealthState = initialHealth
  #nextId = 1
  #observer: EndpointObserver | undefined
  readonly #sizes = new EndpointSizes()
  readonly #pace: RequestPace
  #headCheckedAtMs = Number.NEGATIVE_INFINITY

  constructor(target: EndpointTarget, { heads, headers, wire }: EndpointDialect, now: () => number) {
    this.alias = target.alias
    this.voice = target.voice
    this.#transport = createHttpTransport(target, headers)
    this.#heads = heads
    this.#wire = wire ?? 'json-rpc'
    this.now = now
    this.#pace = new RequestPace(now)
  }

  get state(): HealthState {
    return this.#state
  }

  /** Largest request that the endpoint takes, learnt from refusals; infinite before the first. */
  get sizes(): Sizes {
    return this.#sizes.known
  }

  availability(): Availability {
    return availability(this.#state, this.now())
  }

  pauseMs(): number {
    return pauseMs(this.#state, this.now())
  }

  observe(observer: EndpointObserver): void {
    this.#observer = observer
  }

  /** Notes that enough others agreed on another answer. */
  noteOutvoted(): void {
    this.#observer?.outvoted()
  }

  observeHead(headBlock: bigint): void {
    this.#state = afterHead(this.#state, headBlock)
  }

  /**
   * Answers in call order. Calls are split into several requests if the endpoint does not take them at once.
   * @throws EndpointFailure, with reason `excluded` if nothing was sent because of a pause, `busy` because of its rate
   * @source F-80
   */
  async send(calls: readonly RpcCall[], options: SendOptions): Promise<readonly RpcAnswer[]> {
    /** @param mayBeTooWide see `PartedEndpoint.exchange` */
    const exchange = (part: readonly RpcCall[], mayBeTooWide: boolean) => {
      // A question for the head has no parameters that an endpoint could refuse: its failure always counts.
      const isHead = part.every((call) => isSameCall(call, this.#heads.call))
      return retryTemporary(part, () =>
        this.#learning(options, () => this.#exchange(part, options, isHead), {
          isHead,
          isForgiven: (failure) => mayBeTooWide && mayBeForSize(failure),
        }),
      )
    }
    const answers =
      this.#wire === 'paths'
        ? await exchange(calls, false)
        : await askInParts(calls, { alias: this.alias, sizes: this.#sizes, now: this.now, exchange })
    this.#learnHead(calls, answers)
    return answers
  }

  /** Sends one HTTP request, for families without JSON-RPC. @throws EndpointFailure, as `send` */
  fetch(request: HttpRequest, options: SendOptions): Promise<HttpAnswer> {
    const { path, body } = request
    return this.#learning(
      options,
      () => this.#evenLarge(options, (sending) => this.#transport.fetch(request, sending)),
      { isHead: isSameCall({ method: path, params: body === undefined ? [] : [body] }, this.#heads.call) },
    )
  }

  async close(): Promise<void> {
    await this.#transport.close()
  }

  /**
   * Waits for a turn, sends, and updates health and pace by the outcome.
   * @param question `isHead`: asks for the head alone, so that its failure always counts; `isForgiven`: true for a
   * failure that says nothing about the endpoint's health
   * @source F-63, F-65, F-82
   */
  async #learning<Answer>(
    options: SendOptions,
    send: () => Promise<Answer>,
    question: { readonly isHead: boolean; readonly isForgiven?: (failure: EndpointFailure) => boolean },
  ): Promise<Answer> {
    if (this.#pace.isLimited && !(await this.#pace.turn(options)))
      throw new EndpointFailure({ alias: this.alias, reason: 'busy' })
    // There is no await between this check and `afterSend`, so that only one caller probes a paused endpoint.
    if (options.evenPaused !== true && this.availability() === 'closed') {
      throw new EndpointFailure({ alias: this.alias, reason: 'excluded' })
    }
    const startedAtMs = this.now()
    this.#state = afterSend(this.#state)
    this.#pace.sent()
    try {
      const answer = await send()
      const elapsedMs = this.now() - startedAtMs
      this.#state = afterSuccess(this.#state, elapsedMs)
      this.#observer?.exchanged(elapsedMs / 1_000, undefined)
      return answer
    } catch (error) {
      if (error instanceof EndpointFailure) {
        const elapsedMs = this.now() - startedAtMs
        if (error.reason === 'rate_limited') this.#pace.refused()
        if (question.isForgiven?.(error)) this.#state = afterRefusal(this.#state)
        else this.#learnFailure(error, elapsedMs, question.isHead)
        this.#observer?.exchanged(elapsedMs / 1_000, error.reason)
      }
      throw error
    }
  }

  /**
   * Sends the calls as one exchange, without learning from it. The answers may be the node's own errors, even
   * for a refusal by HTTP status. Only a question for the head must have a result, or it fails with
   * `refused`.
   */
  async #exchange(
    calls: readonly RpcCall[],
    options: SendOptions,
    isHead: boolean,
  ): Promise<readonly RpcAnswer[]> {
    if (this.#wire === 'paths') {
      const answers = await askPaths(calls, this.alias, (request) =>
        this.#evenLarge(options, (sending) => this.#transport.fetch(request, sending)),
      )
      const showsHead = answers.some((answer, index) => this.#headIn(calls[index], answer) !== undefined)
      // A question for the head tests the endpoint: an answer without a head is a refusal.
      if (isHead && !showsHead) throw new EndpointFailure({ alias: this.alias, reason: 'refused' })
      return answers
    }
    const firstId = this.#nextId
    this.#nextId += calls.length
    const expected = { alias: this.alias, count: calls.length, firstId }
    const post = (sending: SendingOptions) => this.#transport.post(encodeCalls(calls, firstId), sending)
    try {
      // A request that can be split is split when its answer is too long, see `askInParts`.
      const text = isSmallest(calls)
        ? await this.#evenLarge(options, post)
        : await post(this.#sending(options))
      const answers = parseAnswers(text, expected).map((answer, index) => refuseHollow(answer, calls[index]))
      // An endpoint with an error even for its head refuses everything, so this counts as its failure.
      if (isHead && answers.every(({ ok }) => !ok))
        throw new EndpointFailure({ alias: this.alias, reason: 'refused', said: text.slice(0, saidMax) })
      return answers
    } catch (error) {
      // A refusal by HTTP status may hold the node's own error, which is then the answer.
      const refusal =
        error instanceof EndpointFailure && error.reason === 'refused' && !isHead
          ? refusalIn(error.said, expected)
          : undefined
      if (refusal === undefined) throw error
      return refusal
    }
  }

  #sending({ deadlineMs, signal }: SendOptions): SendingOptions {
    return { timeoutMs: Math.max(deadlineMs - this.now(), 0), signal }
  }

  /** Asks; if the answer is too long, asks again with a higher limit, one such answer at a time. @source F-81 */
  async #evenLarge<Answer>(
    options: SendOptions,
    ask: (sending: SendingOptions) => Promise<Answer>,
  ): Promise<Answer> {
    try {
      return await ask(this.#sending(options))
    } catch (error) {
      if (!(error instanceof EndpointFailure) || error.reason !== 'oversize') throw error
      const large = largeAnswer.then(() => ask({ ...this.#sending(options), bytesMax: answerBytesMax.alone }))
      largeAnswer = large.catch(() => {})
      return large
    }
  }

  #learnHead(calls: readonly RpcCall[], answers: readonly RpcAnswer[]): void {
    for (const [index, call] of calls.entries()) {
      const head = this.#headIn(call, answers[index])
      if (head !== undefined) this.observeHead(head)
    }
  }

  #headIn(call: RpcCall | undefined, answer: RpcAnswer | undefined): bigint | undefined {
    return call !== undefined && answer?.ok ? this.#heads.readHead(call, answer.result) : undefined
  }

  /** Asks for the head, to see whether an endpoint answers at all after failures that parameters may have caused. */
  #checkHead(): void {
    const nowMs = this.now()
    if (nowMs - this.#headCheckedAtMs < headCheckMs.every) return
    this.#headCheckedAtMs = nowMs
    this.send([this.#heads.call], { deadlineMs: nowMs + headCheckMs.timeout }).catch(() => {})
  }

  /** Counts a failure in full, unless the caller's deadline was short or a name in the question may have caused it. */
  #learnFailure(failure: EndpointFailure, elapsedMs: number, isHead: boolean): void {
    const waited = failure.reason === 'timeout' || failure.reason === 'cancelled'
    if (waited && elapsedMs < hangMs) this.#state = afterCutShort(this.#state, elapsedMs, this.now())
    else if (isHead || !mayBeForName(failure)) this.#state = afterFailure(this.#state, failure, this.now())
    else {
      this.#state = afterNamedFailure(this.#state)
      if (isSuspect(this.#state)) this.#checkHead()
    }
  }
}

const isSameCall = (one: RpcCall, other: RpcCall) =>
  one === other ||
  (one.method === other.method && JSON.stringify(one.params) === JSON.stringify(other.params))
