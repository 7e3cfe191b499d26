import type { FinalBlocks } from '@causeway/core'
import { reachedBy } from '../ethereum-vm/finality.ts'
import type { QuorumClient } from '../quorum/quorumClient.ts'
import { parseBlock, parseHead } from './answers.ts'
import { blockCall, headCall } from './requests.ts'

/** Final blocks of a `solana-vm` chain, by slot and hash, as the quorum shows them. */
export function createFinalBlocks(quorum: QuorumClient): FinalBlocks {
  return {
    async readNewest({ signal }) {
      const { facts } = await quorum.read({
        signal,
        first: async (view, ownSignal) => parseHead((await view.ask([headCall()], ownSignal))[0]),
        pin: (heads) => reachedBy(quorum.threshold, heads),
        async second(view, _own, slot, ownSignal) {
          const { hash } = parseBlock((await view.ask([blockCall(slot)], ownSignal))[0])
          return { kind: 'final', facts: { number: slot, hash } }
        },
      })
      return facts
    },

    /**
     * A refusal of the node says nothing about the block: it may have pruned it. Only an end of the final
     * chain below `slot` says that there is none.
     */
    async readHash(slot, { signal }) {
      const { facts } = await quorum.read({
        signal,
        async first(view, ownSignal) {
          const [head, block] = await view.ask([headCall(), blockCall(slot)], ownSignal)
          return parseHead(head) < slot ? undefined : parseBlock(block).hash
        },
        pin: () => slot,
        second: async (_view, hash) => ({ kind: 'final', facts: { hash } }),
      })
      return facts.hash
    },
  }
}
