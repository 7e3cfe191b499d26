import type { FinalBlocks } from '@causeway/core'
import { createFinalBlocks } from '../rpc/finalBlocks.ts'
import type { QuorumClient } from '../rpc/quorumClient.ts'
import { reachedBy } from '../rpc/tally.ts'
import { parseBlock, parseHead } from './answers.ts'
import { blockCall, headCall } from './requests.ts'

/** Final blocks of a `solana-vm` chain, by slot and hash. */
export function solanaFinalBlocks(quorum: QuorumClient): FinalBlocks {
  return createFinalBlocks(quorum, {
    newest: {
      first: async (view, signal) => parseHead((await view.ask([headCall()], signal))[0]),
      pin: (heads) => reachedBy(quorum.threshold, heads),
      async second(view, _own, slot, signal) {
        const { hash } = parseBlock((await view.ask([blockCall(slot)], signal))[0])
        return { kind: 'final', facts: { number: slot, hash } }
      },
    },
    /**
     * A refusal of the node says nothing about the block: it may have pruned it. Only an end of the final
     * chain below `slot` says that there is none.
     */
    async hashAt(view, slot, signal) {
      const [head, block] = await view.ask([headCall(), blockCall(slot)], signal)
      return parseHead(head) < slot ? undefined : parseBlock(block).hash
    },
  })
}
