import type { Endpoint } from './endpoint.ts'
import { EndpointFailure, mayBeForName } from './endpointFailure.ts'
import { halves } from './groupedQuestions.ts'
import type { RpcAnswer, RpcCall } from './jsonRpc.ts'
import { sendAndRetryOnce } from './sendAndRetryOnce.ts'

/** Limits of a view's requests. */
export type ViewLimits = {
  /** HTTP requests to one endpoint at the same time; further calls wait, and then share a request. */
  readonly requestsInFlightMax: number
  readonly callsPerRequestMax: number
  /** Different calls waiting for one endpoint; more are refused. */
  readonly callsWaitingMax: number
  readonly requestTimeoutMs: number
}

/** A caller that waits for the answer to a call. */
type Waiter = {
  readonly resolve: (answer: RpcAnswer) => void
  readonly reject: (failure: unknown) => void
}
type WaitingCall = { readonly call: RpcCall; readonly waiters: Set<Waiter> }

/**
 * One endpoint as a quorum asks it. Calls of the same turn of the event loop share one HTTP request, and
 * equal calls are sent once, so that a round of a reading is one round trip to each endpoint. A call that no
 * caller waits for any more is not sent; a request under way is not aborted, because it may serve several
 * callers.
 */
export class EndpointView {
  readonly alias: string
  readonly #endpoint: Endpoint
  readonly #limits: ViewLimits
  /** By method and parameters, in the order they came. */
  readonly #waiting = new Map<string, WaitingCall>()
  #inFlight = 0
  #scheduled = false

  constructor(endpoint: Endpoint, limits: ViewLimits) {
    this.alias = endpoint.alias
    this.#endpoint = endpoint
    this.#limits = limits
  }

  /** Answers in call order. @throws EndpointFailure, with reason `cancelled` when `signal` aborts */
  ask(calls: readonly RpcCall[], signal: AbortSignal): Promise<readonly RpcAnswer[]> {
    return Promise.all(calls.map((call) => this.#enqueue(call, signal)))
  }

  /** Asks one call in a request of its own, so that it does not delay others. @throws EndpointFailure */
  async askAlone(call: RpcCall, signal: AbortSignal): Promise<RpcAnswer> {
    const deadlineMs = this.#endpoint.now() + this.#limits.requestTimeoutMs
    const [answer] = await sendAndRetryOnce(this.#endpoint, [call], { deadlineMs, signal, repeatable: true })
    if (answer === undefined) throw new EndpointFailure({ alias: this.alias, reason: 'bad_answer' })
    return answer
  }

  #enqueue(call: RpcCall, signal: AbortSignal): Promise<RpcAnswer> {
    return new Promise((resolve, reject) => {
      const cancelled = () => new EndpointFailure({ alias: this.alias, reason: 'cancelled' })
      if (signal.aborted) return reject(cancelled())
      const key = `${call.method} ${JSON.stringify(call.params)}`
      const waiting = this.#waiting.get(key) ?? { call, waiters: new Set() }
      if (waiting.waiters.size === 0 && this.#waiting.size >= this.#limits.callsWaitingMax) {
        return reject(new EndpointFailure({ alias: this.alias, reason: 'busy' }))
      }
      const leave = () => {
        waiting.waiters.delete(waiter)
        reject(cancelled())
      }
      const waiter: Waiter = {
        resolve(answer) {
          signal.removeEventListener('abort', leave)
          resolve(answer)
        },
        reject(failure) {
          signal.removeEventListener('abort', leave)
          reject(failure)
        },
      }
      signal.addEventListener('abort', leave, { once: true })
      waiting.waiters.add(waiter)
      this.#waiting.set(key, waiting)
      this.#schedule()
    })
  }

  /** Sends at the end of this turn of the event loop, so that calls that follow from one answer share a request. */
  #schedule(): void {
    if (this.#scheduled) return
    this.#scheduled = true
    setImmediate(() => {
      this.#scheduled = false
      while (this.#waiting.size > 0 && this.#inFlight < this.#limits.requestsInFlightMax) this.#sendNext()
    })
  }

  #sendNext(): void {
    const batch: WaitingCall[] = []
    for (const [key, waiting] of this.#waiting) {
      if (batch.length === this.#limits.callsPerRequestMax) break
      this.#waiting.delete(key)
      if (waiting.waiters.size > 0) batch.push(waiting)
    }
    if (batch.length === 0) return
    this.#inFlight += 1
    this.#send(batch).finally(() => {
      this.#inFlight -= 1
      if (this.#waiting.size > 0) this.#schedule()
    })
  }

  async #send(batch: readonly WaitingCall[]): Promise<void> {
    const deadlineMs = this.#endpoint.now() + this.#limits.requestTimeoutMs
    const calls = batch.map(({ call }) => call)
    try {
      const answers = await sendAndRetryOnce(this.#endpoint, calls, { deadlineMs, repeatable: true })
      for (const [index, { waiters }] of batch.entries()) {
        const answer = answers[index]
        for (const waiter of waiters) if (answer !== undefined) waiter.resolve(answer)
      }
    } catch (failure) {
      if (batch.length > 1 && failure instanceof EndpointFailure && mayBeForName(failure)) {
        // A call that makes the endpoint fail must not take the answers of others: the halves are sent by themselves.
        await Promise.all(
          halves(batch.filter(({ waiters }) => waiters.size > 0)).map((half) => this.#send(half)),
        )
        return
      }
      for (const { waiters } of batch) for (const waiter of waiters) waiter.reject(failure)
    }
  }
}
