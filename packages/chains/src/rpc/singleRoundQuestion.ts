import type { ChainQuestion, EndpointSource } from './quorumClient.ts'
import type { Sighting } from './sighting.ts'

/** A question that every endpoint answers by itself: there is no height to agree on first. */
export function singleRoundQuestion<Facts, View extends EndpointSource>(
  see: (view: View, signal: AbortSignal) => Promise<Sighting<Facts>>,
): Omit<ChainQuestion<undefined, undefined, Facts, View>, 'signal'> {
  return {
    first: async () => undefined,
    pin: () => undefined,
    second: (view, _first, _pin, signal) => see(view, signal),
  }
}
