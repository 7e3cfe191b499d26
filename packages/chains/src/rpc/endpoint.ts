import { EndpointFailure } from './endpointFailure.ts'
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
import { createHttpTransport, type HttpTransport } from './httpTransport.ts'
import type { RpcAnswer, RpcCall } from './jsonRpc.ts'
import { encodeCalls, parseAnswers } from './wire.ts'

export type SendOptions = {
  readonly deadlineMs: number
  readonly signal?: AbortSignal | undefined
  /** Send even while the endpoint is paused: for checks of the endpoint itself. */
  readonly evenPaused?: boolean
}

/** Silence of this length is a fault of the endpoint; a shorter wait is the caller's haste. */
const hangMs = 1_000

/** One endpoint: its connections and what its answers taught about it. */
export class Endpoint {
  readonly alias: string
  readonly #transport: HttpTransport
  readonly #heads: HeadTracking
  readonly #now: () => number
  #state: HealthState = initialHealth
  #nextId = 1

  constructor(target: EndpointTarget, heads: HeadTracking, now: () => number) {
    this.alias = target.alias
    this.#transport = createHttpTransport(target, now)
    this.#heads = heads
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

  observeHead(headBlock: bigint): void {
    this.#state = afterHead(this.#state, headBlock)
  }

  /** @throws EndpointFailure, with reason `excluded` when nothing was sent because of a pause */
  async send(calls: readonly RpcCall[], options: SendOptions): Promise<readonly RpcAnswer[]> {
    // Looked at in the same step as the note that a call is out: of many callers one is the probe.
    if (options.evenPaused !== true && this.availability() === 'closed') {
      throw new EndpointFailure({ alias: this.alias, reason: 'excluded' })
    }
    const startedAtMs = this.#now()
    this.#state = afterSend(this.#state)
    try {
      const answers = await this.#exchange(calls, options)
      this.#state = afterSuccess(this.#state, this.#now() - startedAtMs)
      this.#learnHead(calls, answers)
      return answers
    } catch (error) {
      if (error instanceof EndpointFailure) this.#learnFailure(error, this.#now() - startedAtMs)
      throw error
    }
  }

  async close(): Promise<void> {
    await this.#transport.close()
  }

  async #exchange(calls: readonly RpcCall[], options: SendOptions): Promise<readonly RpcAnswer[]> {
    const firstId = this.#nextId
    this.#nextId += calls.length
    const { deadlineMs, signal } = options
    const timeoutMs = Math.max(deadlineMs - this.#now(), 0)
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
