import type { FinalBlocks, Hex } from '@causeway/core'
import type { QuorumClient } from '../quorum/quorumClient.ts'
import { type EvmHeader, headerCall, parseHeader, resultOf } from './answers.ts'
import { blocksUntilOldEnough, type FinalityRule, type FinalPin, pinFinalHeight } from './finality.ts'
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
        pin: (heads) => pinFinalHeight(rule, threshold, heads),
        async second(view, _own, pin, ownSignal) {
          const readHeader = async (height: bigint) =>
            parseHeader((await view.ask([headerCall(height)], ownSignal))[0], height)
          const header = await newestFinal(rule, pin, readHeader)
          if (header === undefined) return { kind: 'not_final', waitSeconds: 1 }
          return { kind: 'final', facts: { number: header.number, hash: header.hash } }
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
