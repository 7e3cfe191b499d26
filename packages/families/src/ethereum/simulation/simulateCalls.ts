import { createHash } from 'node:crypto'
import type { Hex } from '@causeway/core'
import { createLruCache } from '@causeway/rpc'
import type { SimulatedCall } from '../../shared/quotingChain.ts'
import type { PollingClient } from '../agreement/agreedReads.ts'
import { estimateEach, simulateInOrder } from './simulation.ts'
import { DestinationCallFailedError, SimulationOverloadedError } from './simulationErrors.ts'
import type { StateOverrides } from './simulationRequests.ts'

export type CallSimulatorOptions = {
  readonly client: PollingClient
  /** Milliseconds. */
  readonly now: () => number
  /** Number of the block on whose state all endpoints run the calls; default the newest of each. */
  readonly currentBlock?: () => bigint | undefined
  /** Gas that all calls together may use. Default 10 000 000. */
  readonly gasMax?: bigint
  /** Default 300. */
  readonly timeoutMs?: number
  /** Default 8. */
  readonly inFlightMax?: number
  /** Milliseconds that a result is reused. Default 3 000. */
  readonly cacheMs?: number
}

/** Simulates the destination calls of requests on one chain, to learn their gas and whether they fail. */
export interface CallSimulator {
  /**
   * Gas units of the calls, one after another, sent by `from`, whose balance is assumed to cover their values: the
   * result that enough endpoints share, or else the median of enough of them.
   * @throws DestinationCallFailedError if a call reverts or the calls take more than `gasMax`: the request is at fault
   * @throws SimulationUnsupportedError, SimulationOverloadedError
   * @throws UpstreamUnavailableError, UpstreamDisagreementError if endpoints do not answer, or contradict each other
   */
  gasOf(args: CallsToSimulate): Promise<bigint>
}

/** The calls of one request, in their order. */
export type CallsToSimulate = {
  readonly from: Hex
  readonly calls: readonly SimulatedCall[]
  readonly overrides?: StateOverrides | undefined
  /** Gas price of the sender, which contracts can read; absent: 0. */
  readonly gasPriceWei?: bigint | undefined
}

/** Result of the calls on the current state, to be cached; errors of the chain are not. */
type Outcome = { readonly gas: bigint } | { readonly failure: DestinationCallFailedError }

const entriesMax = 1_000
/** After so long `eth_simulateV1` is tried again: nodes may have been upgraded. */
const unsupportedForMs = 600_000

/** Makes a simulator, whose limits keep callers' `txs` from loading the nodes. @source rules Q-48, Q-164 */
export function createCallSimulator(options: CallSimulatorOptions): CallSimulator {
  const { client, now, gasMax = 10_000_000n, timeoutMs = 300, inFlightMax = 8, cacheMs = 3_000 } = options
  const recent = createLruCache<{ readonly outcome: Outcome; readonly untilMs: number }>(entriesMax)
  const underway = new Map<string, Promise<Outcome>>()
  let unsupportedUntilMs = Number.NEGATIVE_INFINITY

  /** By `eth_simulateV1` where nodes have it, else by estimates in the time that is left. */
  async function measure(simulated: CallsToSimulate): Promise<bigint> {
    const deadlineMs = now() + timeoutMs
    const simulation = { ...simulated, gasMax, block: options.currentBlock?.() }
    if (now() >= unsupportedUntilMs) {
      const gas = await simulateInOrder(client, { ...simulation, timeoutMs })
      if (gas !== undefined) return gas
      unsupportedUntilMs = now() + unsupportedForMs
    }
    return estimateEach(client, { ...simulation, timeoutMs: Math.max(deadlineMs - now(), 0) })
  }

  async function run(key: string, simulated: CallsToSimulate): Promise<Outcome> {
    try {
      const outcome = await measure(simulated).then((gas): Outcome => ({ gas }), asOutcome)
      recent.set(key, { outcome, untilMs: now() + cacheMs })
      return outcome
    } finally {
      underway.delete(key)
    }
  }

  return {
    async gasOf(simulated) {
      if (simulated.calls.length === 0) return 0n
      const key = hashOf(simulated)
      const cached = recent.get(key)
      if (cached !== undefined && cached.untilMs > now()) return gasOrThrow(cached.outcome)
      const shared = underway.get(key)
      if (shared === undefined && underway.size >= inFlightMax) {
        throw new SimulationOverloadedError(client.chainId)
      }
      const started = shared ?? run(key, simulated)
      if (shared === undefined) underway.set(key, started)
      return gasOrThrow(await started)
    },
  }
}

function asOutcome(error: unknown): Outcome {
  if (error instanceof DestinationCallFailedError) return { failure: error }
  throw error
}

function gasOrThrow(outcome: Outcome): bigint {
  if ('gas' in outcome) return outcome.gas
  throw outcome.failure
}

/** Key of the calls. The gas price is left out: it changes with each block, and seldom matters to the calls. */
function hashOf({ from, calls, overrides = {} }: CallsToSimulate): string {
  const text = calls.map(({ to, value, data }) => [to, value, data].join()).join(';')
  const state = JSON.stringify(overrides)
  return createHash('sha256').update(`${from};${text};${state}`.toLowerCase()).digest('base64')
}
