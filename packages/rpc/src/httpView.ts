import type { Endpoint } from './endpoint.ts'
import { EndpointFailure } from './endpointFailure.ts'
import type { ViewLimits } from './endpointView.ts'
import type { HttpAnswer, HttpRequest } from './httpTransport.ts'
import { retryLost } from './repeatedSending.ts'
import { SingleFlight } from './sharedWork.ts'

/**
 * One endpoint with an HTTP interface, as a quorum asks it. Equal requests in flight are sent once. The numbers of
 * requests in flight and of waiting ones are limited.
 */
export class HttpView {
  readonly alias: string
  readonly #endpoint: Endpoint
  readonly #limits: ViewLimits
  readonly #flights = new SingleFlight<HttpAnswer>()
  readonly #waiting = new Set<() => void>()
  #inFlight = 0

  constructor(endpoint: Endpoint, limits: ViewLimits) {
    this.alias = endpoint.alias
    this.#endpoint = endpoint
    this.#limits = limits
  }

  /** @throws EndpointFailure, with reason `cancelled` when `signal` aborts */
  async ask(request: HttpRequest, signal: AbortSignal): Promise<HttpAnswer> {
    try {
      return await this.#flights.run(JSON.stringify(request), signal, (sharedSignal) =>
        this.#send(request, sharedSignal),
      )
    } catch (error) {
      if (!signal.aborted || error instanceof EndpointFailure) throw error
      throw new EndpointFailure({ alias: this.alias, reason: 'cancelled' })
    }
  }

  async #send(request: HttpRequest, signal: AbortSignal): Promise<HttpAnswer> {
    await this.#enter(signal)
    const deadlineMs = this.#endpoint.now() + this.#limits.requestTimeoutMs
    try {
      return await retryLost(() => this.#endpoint.fetch(request, { deadlineMs, signal }))
    } finally {
      this.#leave()
    }
  }

  #enter(signal: AbortSignal): Promise<void> {
    if (this.#inFlight < this.#limits.requestsInFlightMax) {
      this.#inFlight += 1
      return Promise.resolve()
    }
    return new Promise((resolve, reject) => {
      if (this.#waiting.size >= this.#limits.callsWaitingMax) {
        return reject(new EndpointFailure({ alias: this.alias, reason: 'busy' }))
      }
      const enter = () => {
        signal.removeEventListener('abort', giveUp)
        resolve()
      }
      const giveUp = () => {
        this.#waiting.delete(enter)
        reject(new EndpointFailure({ alias: this.alias, reason: 'cancelled' }))
      }
      signal.addEventListener('abort', giveUp, { once: true })
      this.#waiting.add(enter)
    })
  }

  /** Gives the free place to the request that has waited longest. */
  #leave(): void {
    const [next] = this.#waiting
    if (next === undefined) this.#inFlight -= 1
    else {
      this.#waiting.delete(next)
      next()
    }
  }
}
