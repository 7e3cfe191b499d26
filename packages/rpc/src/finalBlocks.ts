import type { FinalBlock, FinalBlocks } from '@causeway/core'
import type { ChainQuestion, EndpointSource, QuorumClient } from './quorumClient.ts'
import { singleRoundQuestion } from './singleRoundQuestion.ts'

/** Reader of a chain's final blocks by quorum, from a family's questions about them. */
export function createFinalBlocks<View extends EndpointSource, First, Pin>(
  quorum: QuorumClient<View>,
  reading: {
    readonly newest: Pick<ChainQuestion<First, Pin, FinalBlock, View>, 'first' | 'pin' | 'second'>
    /** `undefined` when the endpoint's chain is known to end below `number`. */
    readonly hashAt: (view: View, number: bigint, signal: AbortSignal) => Promise<string | undefined>
    /** See `FinalBlocks.readLinks`. */
    readonly links?: (
      from: bigint,
      noted: readonly bigint[],
    ) => Pick<ChainQuestion<First, Pin, readonly FinalBlock[], View>, 'first' | 'pin' | 'second'>
  },
): FinalBlocks {
  const { newest, hashAt, links } = reading
  return {
    async readNewest({ signal }) {
      const { facts } = await quorum.read({ ...newest, signal })
      return facts
    },
    async readHash(number, { signal }) {
      const { facts } = await quorum.read({
        ...singleRoundQuestion<{ readonly hash: string | undefined }, View>(async (view, viewSignal) => ({
          kind: 'final',
          // In an object, because facts that are `undefined` would count as no vote.
          facts: { hash: await hashAt(view, number, viewSignal) },
        })),
        signal,
      })
      return facts.hash
    },
    ...(links !== undefined && {
      async readLinks(from, { signal, noted }) {
        const { facts } = await quorum.read({ ...links(from, noted), signal })
        return facts
      },
    }),
  }
}
