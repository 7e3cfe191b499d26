import type { FinalBlocks } from '@causeway/core'
import type { QuorumClient } from '../quorum/quorumClient.ts'
import type { BitcoinView } from './bitcoinView.ts'
import type { Confirmations } from './finality.ts'
import { pinHeight } from './readFinalTransaction.ts'

/** Final blocks of a `bitcoin-vm` chain, by height and hash, as the quorum shows them. */
export function createFinalBlocks({
  quorum,
  confirmations,
}: {
  readonly quorum: QuorumClient<BitcoinView>
  readonly confirmations: Confirmations
}): FinalBlocks {
  const { threshold } = quorum
  return {
    async readNewest({ signal }) {
      const { facts } = await quorum.read({
        signal,
        first: async (view, ownSignal) => ({ tipHeight: await view.readTipHeight(ownSignal) }),
        pin: (views) => pinHeight({ threshold, confirmations }, views),
        async second(view, _own, number, ownSignal) {
          const hash = number < 0n ? undefined : await view.readBlockHash(number, ownSignal)
          if (hash === undefined) return { kind: 'not_final', waitSeconds: 600 }
          return { kind: 'final', facts: { number, hash } }
        },
      })
      return facts
    },

    async readHash(number, { signal }) {
      const { facts } = await quorum.read({
        signal,
        first: (view, ownSignal) => view.readBlockHash(number, ownSignal),
        pin: () => number,
        second: async (_view, hash) => ({ kind: 'final', facts: { hash } }),
      })
      return facts.hash
    },
  }
}
