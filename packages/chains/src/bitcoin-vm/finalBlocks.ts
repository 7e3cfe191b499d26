import type { FinalBlocks } from '@causeway/core'
import { createFinalBlocks } from '../rpc/finalBlocks.ts'
import type { QuorumClient } from '../rpc/quorumClient.ts'
import type { BitcoinView } from './bitcoinView.ts'
import type { Confirmations } from './finality.ts'
import { pinHeight } from './readFinalTransaction.ts'

/** Final blocks of a `bitcoin-vm` chain, by height and hash. */
export function bitcoinFinalBlocks(
  quorum: QuorumClient<BitcoinView>,
  confirmations: Confirmations,
): FinalBlocks {
  const { threshold } = quorum
  return createFinalBlocks(quorum, {
    newest: {
      first: async (view, signal) => ({ tipHeight: await view.readTipHeight(signal) }),
      pin: (views) => pinHeight({ threshold, confirmations }, views),
      async second(view, _own, number, signal) {
        const hash = number < 0n ? undefined : await view.readBlockHash(number, signal)
        if (hash === undefined) return { kind: 'not_final', waitSeconds: 600 }
        return { kind: 'final', facts: { number, hash } }
      },
    },
    hashAt: (view, height, signal) => view.readBlockHash(height, signal),
  })
}
