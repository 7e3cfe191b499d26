import type { ChainQuestion, EndpointSource, QuorumClient } from './quorumClient.ts'
import type { Sighting } from './sighting.ts'

/** A question with one round only, because its answer does not depend on a height. */
export function singleRoundQuestion<Facts, View extends EndpointSource>(
  readFacts: (view: View, signal: AbortSignal) => Promise<Sighting<Facts>>,
): Omit<ChainQuestion<undefined, undefined, Facts, View>, 'signal'> {
  return {
    first: async () => undefined,
    pin: () => undefined,
    second: (view, _first, _pin, signal) => readFacts(view, signal),
  }
}

/** Facts that enough endpoints share, each at its own newest block. @throws UpstreamUnavailableError */
export async function agreeOn<Facts, View extends EndpointSource>(
  quorum: QuorumClient<View>,
  readFacts: (view: View, signal: AbortSignal) => Promise<Facts>,
  signal: AbortSignal,
): Promise<Facts> {
  const question = singleRoundQuestion<Facts, View>(async (view, endpointSignal) => ({
    kind: 'final',
    facts: await readFacts(view, endpointSignal),
  }))
  return (await quorum.read({ ...question, signal })).facts
}
