import type { ChainQuestion, EndpointSource, QuorumClient } from './quorumClient.ts'
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

/** Facts that enough endpoints share, whatever block they stand at. @throws UpstreamUnavailableError */
export async function agreeOn<Facts, View extends EndpointSource>(
  quorum: QuorumClient<View>,
  see: (view: View, signal: AbortSignal) => Promise<Facts>,
  signal: AbortSignal,
): Promise<Facts> {
  const question = singleRoundQuestion<Facts, View>(async (view, own) => ({
    kind: 'final',
    facts: await see(view, own),
  }))
  return (await quorum.read({ ...question, signal })).facts
}
