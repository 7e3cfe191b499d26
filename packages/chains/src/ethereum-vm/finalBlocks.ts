import type { FinalBlocks } from '@causeway/core'
import { createFinalBlocks } from '../quorum/finalBlocks.ts'
import type { QuorumClient } from '../quorum/quorumClient.ts'
import { type EvmHeader, headerCall, parseHeader, resultOf } from './answers.ts'
import { blocksUntilOldEnough, type FinalityRule, type FinalPin, pinFinalHeight } from './finality.ts'
import { headCalls, parseHeads } from './readFinalTransaction.ts'

/** Final blocks of an `ethereum-vm` chain, by number and hash. */
export function ethereumFinalBlocks(quorum: QuorumClient, rule: FinalityRule): FinalBlocks {
  return createFinalBlocks(quorum, {
    newest: {
      first: async (view, signal) => parseHeads(rule, await view.ask(headCalls(rule), signal)),
      pin: (heads) => pinFinalHeight(rule, quorum.threshold, heads),
      async second(view, _own, pin, signal) {
        const readHeader = async (height: bigint) =>
          parseHeader((await view.ask([headerCall(height)], signal))[0], height)
        const header = await newestFinal(rule, pin, readHeader)
        if (header === undefined) return { kind: 'not_final', waitSeconds: 1 }
        return { kind: 'final', facts: { number: header.number, hash: header.hash } }
      },
    },
    async hashAt(view, number, signal) {
      const [answer] = await view.ask([headerCall(number)], signal)
      if (resultOf(answer, 'eth_getBlockByNumber') === null) return undefined
      return parseHeader(answer, number).hash
    },
  })
}

/**
 * The newest block that is deep and old enough, or one a little older: how far to go back is told by the
 * pace of the chain, so that two or three headers do. All endpoints of one chain come to the same block.
 */
async function newestFinal(
  rule: FinalityRule,
  pin: FinalPin,
  readHeader: (height: bigint) => Promise<EvmHeader>,
): Promise<EvmHeader | undefined> {
  let height = pin.height
  while (height >= 0n) {
    const header = await readHeader(height)
    const back = blocksUntilOldEnough(rule, pin, header)
    if (back === 0n) return header
    height -= back
  }
  return undefined
}
