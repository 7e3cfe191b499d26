import type { FinalBlock, FinalBlocks } from '@causeway/core'
import type { EndpointView, QuorumClient, RpcAnswer } from '@causeway/rpc'
import { createFinalBlocks, MalformedAnswerError, resultOf } from '@causeway/rpc'
import { parseHead } from '../agreement/head.ts'
import { type EvmHeader, headerCall, parseHeader } from './answers.ts'
import {
  blocksUntilOldEnough,
  type FinalHeight,
  type FinalityRule,
  type Heads,
  pinFinalHeight,
} from './finality.ts'
import { headCalls, parseHeads } from './readFinalTransaction.ts'

/** Most headers of one reading. */
const linksMax = 16n
/** Up to so many blocks beside the noted ones, every header is read and checked against its parent. */
const fewLinks = 2

/** Final blocks of an `ethereum-vm` chain, by number and hash. */
export function ethereumFinalBlocks(quorum: QuorumClient, rule: FinalityRule): FinalBlocks {
  const headRounds = {
    first: async (view: EndpointView, signal: AbortSignal) =>
      parseHeads(rule, await view.ask(headCalls(rule), signal)),
    pin: (allHeads: readonly Heads[]) => pinFinalHeight(rule, quorum.threshold, allHeads),
  }
  return createFinalBlocks(quorum, {
    newest: {
      ...headRounds,
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
      ...headRounds,
      async second(view, _own, pin, signal) {
        const first = lower(from, pin.headNumber)
        const notedHeights = noted
          .filter((height) => height > first && height < pin.height)
          .slice(0, Number(linksMax))
        if (pin.height > first + BigInt(fewLinks + notedHeights.length)) {
          const readHeaders = async (heights: readonly bigint[]) => {
            const answers = await view.ask(heights.map(headerCall), signal)
            return heights.map((height, index) => parseHeader(answers[index], height))
          }
          // No noted height is skipped: if there are too many, the newest block waits for the next reading.
          const heightsAbove = notedHeights.length < linksMax ? [...notedHeights, pin.height] : notedHeights
          // The lowest header is read last: a reorg after the higher ones were read would show in it.
          const newer = await readHeaders(heightsAbove.toReversed())
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

/** Consecutive headers. @throws MalformedAnswerError if one is not the parent of the next, as after a reorg */
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
 * The newest block that is deep and old enough for the rule, or one a little older. The distance to go back is
 * estimated from the time between blocks, so that two or three headers are enough. All honest endpoints find the same
 * block.
 */
export async function newestFinal(
  rule: FinalityRule,
  pin: FinalHeight,
  readHeader: (height: bigint) => Promise<EvmHeader>,
): Promise<EvmHeader | undefined> {
  let height = pin.height
  while (height >= 0n) {
    const header = await readHeader(height)
    const blocksBack = blocksUntilOldEnough(rule, pin, header)
    if (blocksBack === 0n) return header
    height -= blocksBack
  }
  return undefined
}
