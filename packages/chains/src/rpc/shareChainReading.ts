import { UpstreamUnavailableError } from '@causeway/core'
import type { SingleFlight } from './singleFlight.ts'

/** One flight, with the refusal of a caller that gave up typed like any other. */
export async function shareChainReading<Value>(
  flights: SingleFlight<Value>,
  { key, chainId, signal }: { readonly key: string; readonly chainId: string; readonly signal: AbortSignal },
  work: (signal: AbortSignal) => Promise<Value>,
): Promise<Value> {
  try {
    return await flights.run(key, signal, work)
  } catch (error) {
    if (!signal.aborted) throw error
    throw new UpstreamUnavailableError(`Chain ${chainId} did not answer in time.`, {
      code: 'REQUEST_TIMED_OUT',
      data: { chainId },
      cause: error,
    })
  }
}
