import type { FinalBlocks, Hex } from '@causeway/core'
import type { QuorumClient } from '../quorum/quorumClient.ts'
import { headerCall, parseHeader, resultOf } from './answers.ts'
import { type FinalityRule, pinFinalHeight } from './finality.ts'
import { headCalls, parseHeads } from './readFinalTransaction.ts'

/** Final blocks of an `ethereum-vm` chain, by number and hash, as the quorum shows them. */
export function createFinalBlocks({
  quorum,
  rule,
}: {
  readonly quorum: QuorumClient
  readonly rule: FinalityRule
}): FinalBlocks {
  const { threshold } = quorum
  return {
    async readNewest({ signal }) {
      const { facts } = await quorum.read({
        signal,
        first: async (view, ownSignal) => parseHeads(rule, await view.ask(headCalls(rule), ownSignal)),
        pin: (heads) => pinFinalHeight(rule, threshold, heads).height,
        async second(view, _own, height, ownSignal) {
          if (height < 0n) return { kind: 'not_final', waitSeconds: 1 }
          const { number, hash } = parseHeader((await view.ask([headerCall(height)], ownSignal))[0], height)
          return { kind: 'final', facts: { number, hash } }
        },
      })
      return facts
    },

    async readHash(number, { signal }) {
      const { facts } = await quorum.read({
        signal,
        first: async (view, ownSignal): Promise<Hex | undefined> => {
          const [answer] = await view.ask([headerCall(number)], ownSignal)
          return resultOf(answer, 'eth_getBlockByNumber') === null
            ? undefined
            : parseHeader(answer, number).hash
        },
        pin: () => number,
        second: async (_view, hash) => ({ kind: 'final', facts: { hash } }),
      })
      return facts.hash
    },
  }
}
