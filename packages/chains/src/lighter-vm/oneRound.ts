import type { HttpView } from '../quorum/httpView.ts'
import type { ChainQuestion } from '../quorum/quorumClient.ts'
import type { Sighting } from '../quorum/sighting.ts'

/** A question that every endpoint answers by itself: there is no height to agree on first. */
export function oneRound<Facts>(
  see: (view: HttpView, signal: AbortSignal) => Promise<Sighting<Facts>>,
): Omit<ChainQuestion<undefined, undefined, Facts, HttpView>, 'signal'> {
  return {
    first: async () => undefined,
    pin: () => undefined,
    second: (view, _first, _pin, signal) => see(view, signal),
  }
}
