import { type FinalBlock, type FinalBlocks, maxBigint, minBigint } from '@causeway/core'
import type { EndpointView, QuorumClient, RpcAnswer } from '@causeway/rpc'
import { createFinalBlocks, MalformedAnswerError, resultOf } from '@causeway/rpc'
import { parseHead } from '../agreement/head.ts'
import { type EvmHeader, headerCall, parseHeader } from './answers.ts'
import { blocksUntilOldEnough, countsSeconds, type FinalHeight, type FinalityRule } from './finality.ts'
import { headRound, readHeader } from './headRound.ts'

/** Most headers of one reading, beside that of its first block. */
const linksMax = 16n
/** If no more blocks than this lie above the first one, noted ones not counted, the header of every block is read. */
const fewLinks = 2

/** Final blocks of an `ethereum-vm` chain, by number and hash. */
export function ethereumFinalBlocks(quorum: QuorumClient, rule: FinalityRule): FinalBlocks {
  const heads = headRound(rule, quorum.threshold)
  return createFinalBlocks(quorum, {
    newest: {
      ...heads,
      async second(view, _heads, pin, signal) {
        const header = await newestFinal(view, { rule, pin }, signal)
        if (header === undefined) return { kind: 'not_final', waitSeconds: 1 }
        return { kind: 'final', facts: { number: header.number, hash: header.hash } }
      },
    },
    async hashAt(view, number, signal) {
      const [answer] = await view.ask([headerCall(number)], signal)
      // `null`: the endpoint's chain ends below this number.
      if (resultOf(answer, 'eth_getBlockByNumber') === null) return undefined
      return parseHeader(answer, number).hash
    },
    links: (from, noted) => ({
      ...heads,
      second: async (view, _heads, pin, signal) => ({
        kind: 'final',
        facts: await readLinks(view, { from, noted, rule, pin }, signal),
      }),
    }),
  })
}

/** `noted`: heights that the caller has seen as final and wants to have read again, ascending. */
type LinksQuestion = AgreedRule & { readonly from: bigint; readonly noted: readonly bigint[] }

/**
 * One endpoint's blocks from `from` up to the newest final one, see `FinalBlocks.readLinks`. The caller
 * compares the hashes with those that it saw before, so no noted height may be passed over. Two cases:
 * - At most `fewLinks` blocks above the first are not noted: all are read, each checked against its parent,
 *   as far as `linksMax` allows.
 * - There are more: only the first, the noted ones and the newest are read. If the noted ones alone fill the
 *   reading, the newest is left for the next.
 */
async function readLinks(
  view: EndpointView,
  { from, noted, rule, pin }: LinksQuestion,
  signal: AbortSignal,
): Promise<readonly FinalBlock[]> {
  // If the chain ends below `from`, its head is read in place of that block, so that the caller sees where it ends.
  const first = minBigint(from, pin.headNumber)
  const notedAbove = noted.filter((height) => height > first && height <= pin.height)
  // `finalHeight` estimates, so it may miss the newest final block; a noted block was final when it was noted.
  const newest = maxBigint(await finalHeight(view, { rule, pin }, signal), notedAbove.at(-1) ?? -1n)
  const notedBetween = notedAbove.filter((height) => height < newest).slice(0, Number(linksMax))
  const isGapWide = newest > first + BigInt(fewLinks + notedBetween.length)
  if (isGapWide) {
    const heightsAbove = notedBetween.length < linksMax ? [...notedBetween, newest] : notedBetween
    return readSparseBlocks(view, first, heightsAbove, signal)
  }
  // The first block alone if the newest final one is not above it.
  const numbers = [first]
  const last = minBigint(first + linksMax, newest)
  for (let number = first + 1n; number <= last; number++) numbers.push(number)
  return linkedBlocks(numbers, await view.ask(numbers.map(headerCall), signal))
}

/**
 * Blocks at some heights, the lowest first. They are asked for in the opposite order, the lowest by itself at the end:
 * the caller knows its hash, so a chain that was rewritten below it meanwhile cannot hide behind the higher blocks.
 */
async function readSparseBlocks(
  view: EndpointView,
  lowest: bigint,
  heightsAbove: readonly bigint[],
  signal: AbortSignal,
): Promise<readonly FinalBlock[]> {
  const answers = await view.ask(heightsAbove.toReversed().map(headerCall), signal)
  // The answers are in descending order, so the last one is that of the first height.
  const higher = heightsAbove.map((height, index) => parseHeader(answers.at(-1 - index), height))
  const headers = [await readHeader(view, lowest, signal), ...higher]
  return headers.map(({ number, hash }) => ({ number, hash }))
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

type AgreedRule = { readonly rule: FinalityRule; readonly pin: FinalHeight }

/** Height of `newestFinal`; below 0 if no block is final. Headers are read only if the rule counts seconds. */
export async function finalHeight(
  view: EndpointView,
  agreed: AgreedRule,
  signal: AbortSignal,
): Promise<bigint> {
  if (!countsSeconds(agreed.rule)) return agreed.pin.height
  return (await newestFinal(view, agreed, signal))?.number ?? -1n
}

/**
 * The newest block of an endpoint that is deep and old enough for the rule, or one a little older; undefined if none
 * is. The distance to go back is estimated from the time between blocks, so that two or three headers are enough. All
 * honest endpoints find the same block, since they start at the agreed height and read the same headers.
 */
export async function newestFinal(
  view: EndpointView,
  { rule, pin }: AgreedRule,
  signal: AbortSignal,
): Promise<EvmHeader | undefined> {
  let height = pin.height
  while (height >= 0n) {
    const header = await readHeader(view, height, signal)
    const blocksBack = blocksUntilOldEnough(rule, pin, header)
    if (blocksBack === 0n) return header
    height -= blocksBack
  }
  return undefined
}
