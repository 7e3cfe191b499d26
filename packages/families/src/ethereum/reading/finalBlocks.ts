import type { FinalBlock, FinalBlocks } from '@causeway/core'
import type { EndpointView, QuorumClient, RpcAnswer } from '@causeway/rpc'
import { createFinalBlocks, MalformedAnswerError, resultOf } from '@causeway/rpc'
import { parseHead } from '../agreement/head.ts'
import { type EvmHeader, headerCall, parseHeader } from './answers.ts'
import {
  blocksUntilOldEnough,
  type FinalityRule,
  type FinalPin,
  type Heads,
  pinFinalHeight,
} from './finality.ts'
import { headCalls, parseHeads } from './readFinalTransaction.ts'

/** Headers of one reading that links every block. */
const linksMax = 16n
/** As many blocks beside noted ones are linked one by one; of more, the newest and then the first are read. */
const fewLinks = 2

/** Final blocks of an `ethereum-vm` chain, by number and hash. */
export function ethereumFinalBlocks(quorum: QuorumClient, rule: FinalityRule): FinalBlocks {
  const heads = {
    first: async (view: EndpointView, signal: AbortSignal) =>
      parseHeads(rule, await view.ask(headCalls(rule), signal)),
    pin: (allHeads: readonly Heads[]) => pinFinalHeight(rule, quorum.threshold, allHeads),
  }
  return createFinalBlocks(quorum, {
    newest: {
      ...heads,
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
    links: (from, noted) => ({
      ...heads,
      async second(view, _own, pin, signal) {
        const first = lower(from, pin.headNumber)
        const kept = noted
          .filter((height) => height > first && height < pin.height)
          .slice(0, Number(linksMax))
        if (pin.height > first + BigInt(fewLinks + kept.length)) {
          const readHeaders = async (heights: readonly bigint[]) => {
            const answers = await view.ask(heights.map(headerCall), signal)
            return heights.map((height, index) => parseHeader(answers[index], height))
          }
          // None is skipped: of too many the newest one waits.
          const above = kept.length < linksMax ? [...kept, pin.height] : kept
          // Highest first: had a chain without the lower ones replaced the higher ones, it would show now.
          const newer = await readHeaders(above.toReversed())
          const headers = [...newer, ...(await readHeaders([first]))].reverse()
          const facts = headers.map(({ number, hash }) => ({ number, hash }))
          return { kind: 'final', facts }
        }
        const last = lower(first + linksMax, pin.height)
        const numbers = [first]
        for (let number = first + 1n; number <= last; number++) numbers.push(number)
        const answers = await view.ask(numbers.map(headerCall), signal)
        return { kind: 'final', facts: linkedBlocks(numbers, answers) }
      },
    }),
  })
}

function lower(a: bigint, b: bigint): bigint {
  return a < b ? a : b
}

/** @throws MalformedAnswerError when one is not the parent of the next: the chain changed between two answers */
function linkedBlocks(
  numbers: readonly bigint[],
  answers: readonly (RpcAnswer | undefined)[],
): readonly FinalBlock[] {
  const requestName = 'eth_getBlockByNumber'
  const headers = numbers.map((number, index) => {
    const header = parseHead(resultOf(answers[index], requestName))
    if (header.number !== number) throw new MalformedAnswerError(requestName)
    return header
  })
  for (const [index, { parentHash }] of headers.entries()) {
    if (index > 0 && headers[index - 1]?.hash !== parentHash) throw new MalformedAnswerError(requestName)
  }
  return headers.map(({ number, hash }) => ({ number, hash }))
}

/**
 * The newest block that is deep and old enough, or one a little older: how far to go back is told by the
 * pace of the chain, so that two or three headers do. All endpoints of one chain come to the same block.
 */
export async function newestFinal(
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
