import type { Endpoint } from './endpoint.ts'
import { type Availability, askingOrder, isLagging, referenceHead } from './endpointHealth.ts'
import type { EndpointHealth, RpcCall } from './jsonRpc.ts'

export type EndpointPoolOptions = {
  readonly endpoints: readonly Endpoint[]
  readonly headCall: RpcCall
  /** An endpoint further behind the others is not asked. */
  readonly lagBlocksMax: number
  /** Least time between two rounds of head probes that calls start in the background. */
  readonly headProbeIntervalMs: number
  readonly now: () => number
}

const headProbeTimeoutMs = 2_000
/** Least time between rounds that a caller waits for, because every usable endpoint lags. */
const urgentIntervalMs = 1_000

/** Decides which endpoints of a chain may be asked, from their health and from how their heads compare. */
export class EndpointPool {
  readonly endpoints: readonly Endpoint[]
  readonly #options: EndpointPoolOptions
  #reference: bigint | undefined
  #probedAtMs: number
  #round: Promise<void> | undefined

  constructor(options: EndpointPoolOptions) {
    this.endpoints = options.endpoints
    this.#options = options
    this.#probedAtMs = options.now()
  }

  /**
   * Endpoints in the order in which to ask them. If all available ones lag behind the reference, which a failed
   * endpoint may have set, their heads are compared again first, within the caller's deadline.
   */
  async candidates(deadlineMs: number): Promise<readonly Endpoint[]> {
    if (this.#isDue(this.#options.headProbeIntervalMs)) void this.probeHeads()
    const candidates = this.#ordered()
    const onlyLagging =
      candidates.length === 0 && this.endpoints.some((one) => one.availability() !== 'closed')
    if (!onlyLagging || !this.#isDue(urgentIntervalMs)) return candidates
    await settledWithin(this.probeHeads(), deadlineMs - this.#options.now())
    return this.#ordered()
  }

  /** Asks all endpoints that are not paused for their heads. Concurrent callers share one round. */
  probeHeads(): Promise<void> {
    this.#round ??= this.#probeAll().finally(() => {
      this.#round = undefined
    })
    return this.#round
  }

  health(): readonly EndpointHealth[] {
    return this.endpoints.map((endpoint) => {
      const { headBlock, latencyMs, consecutiveFailures } = endpoint.state
      const healthy = this.#availability(endpoint) === 'ready'
      return { alias: endpoint.alias, healthy, headBlock, latencyMs, consecutiveFailures }
    })
  }

  async #probeAll(): Promise<void> {
    const { now, headCall } = this.#options
    this.#probedAtMs = now()
    const deadlineMs = now() + headProbeTimeoutMs
    const heads = await Promise.all(
      this.endpoints.map((endpoint) =>
        endpoint.send([headCall], { deadlineMs }).then(
          () => endpoint.state.headBlock,
          // The endpoint has noted its failure itself; the round compares those that answer.
          () => undefined,
        ),
      ),
    )
    this.#reference = referenceHead(heads.filter((head) => head !== undefined)) ?? this.#reference
  }

  #ordered(): readonly Endpoint[] {
    const states = this.endpoints.map((endpoint) => ({
      state: endpoint.state,
      availability: this.#availability(endpoint),
    }))
    return askingOrder(states).flatMap((position) => this.endpoints[position] ?? [])
  }

  #availability(endpoint: Endpoint): Availability {
    const { lagBlocksMax } = this.#options
    return isLagging(endpoint.state, this.#reference, lagBlocksMax) ? 'closed' : endpoint.availability()
  }

  #isDue(intervalMs: number): boolean {
    const { now } = this.#options
    // The head of a single endpoint has no other to compare with.
    return this.endpoints.length > 1 && this.#round === undefined && now() - this.#probedAtMs >= intervalMs
  }
}

function settledWithin(work: Promise<void>, timeoutMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, Math.max(timeoutMs, 0))
    work.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}
