import type { FinalBlocks } from '@causeway/core'
import type { FinalityRule } from '../ethereum-vm/finality.ts'
import type { HttpView } from '../quorum/httpView.ts'
import type { QuorumClient } from '../quorum/quorumClient.ts'
import { parseHeader } from './answers.ts'
import { askNode } from './askNode.ts'
import { pinSolidHeight } from './finality.ts'
import { readHeads, requireHeader } from './readFinalTransaction.ts'
import { headerRequest, solidHeaderRequest } from './requests.ts'

/** Final blocks of a `tron-vm` chain, by number and id, as the quorum shows them. */
export function createFinalBlocks({
  quorum,
  rule,
}: {
  readonly quorum: QuorumClient<HttpView>
  readonly rule: FinalityRule
}): FinalBlocks {
  const { threshold } = quorum
  return {
    async readNewest({ signal }) {
      const { facts } = await quorum.read({
        signal,
        first: readHeads,
        pin: (heads) => pinSolidHeight(rule, threshold, heads).height,
        async second(view, _own, height, ownSignal) {
          if (height < 0n) return { kind: 'not_final', waitSeconds: 1 }
          const body = await askNode(view, solidHeaderRequest(height), ownSignal)
          const { number, hash } = requireHeader(body, height)
          return { kind: 'final', facts: { number, hash } }
        },
      })
      return facts
    },

    async readHash(number, { signal }) {
      const { facts } = await quorum.read({
        signal,
        first: async (view, ownSignal) =>
          parseHeader(await askNode(view, headerRequest(number), ownSignal), number)?.hash,
        pin: () => number,
        second: async (_view, hash) => ({ kind: 'final', facts: { hash } }),
      })
      return facts.hash
    },
  }
}
