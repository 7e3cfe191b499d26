import type { FinalBlocks } from '@causeway/core'
import type { FinalityRule } from '../ethereum-vm/finality.ts'
import { createFinalBlocks } from '../rpc/finalBlocks.ts'
import type { HttpView } from '../rpc/httpView.ts'
import type { QuorumClient } from '../rpc/quorumClient.ts'
import { parseHeader } from './answers.ts'
import { askNode } from './askNode.ts'
import { pinSolidHeight } from './finality.ts'
import { readHeads, requireHeader } from './readFinalTransaction.ts'
import { headerRequest, solidHeaderRequest } from './requests.ts'

/** Final blocks of a `tron-vm` chain, by number and id. */
export function tronFinalBlocks(quorum: QuorumClient<HttpView>, rule: FinalityRule): FinalBlocks {
  return createFinalBlocks(quorum, {
    newest: {
      first: readHeads,
      pin: (heads) => pinSolidHeight(rule, quorum.threshold, heads).height,
      async second(view, _own, height, signal) {
        if (height < 0n) return { kind: 'not_final', waitSeconds: 1 }
        const { number, hash } = requireHeader(
          await askNode(view, solidHeaderRequest(height), signal),
          height,
        )
        return { kind: 'final', facts: { number, hash } }
      },
    },
    hashAt: async (view, number, signal) =>
      parseHeader(await askNode(view, headerRequest(number), signal), number)?.hash,
  })
}
