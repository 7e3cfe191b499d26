import type { Hex } from '@causeway/core'
import type { ChainHead } from '../agreement/head.ts'

export type BlockLink = Pick<ChainHead, 'number' | 'hash' | 'parentHash'>

/** More missed blocks than this are not caught up one by one: all ticks are read again instead. */
export const missedBlocksMax = 16n

/**
 * Heights between the last mirrored block and a new head, ascending: none when the head is the next
 * block, replaces the last one or is older. @returns undefined when there are too many
 */
export function heightsBetween(last: bigint, head: bigint): readonly bigint[] | undefined {
  const missed = head - last - 1n
  if (missed > missedBlocksMax) return undefined
  return Array.from({ length: Math.max(Number(missed), 0) }, (_, at) => last + 1n + BigInt(at))
}

/**
 * Hash of the block under the oldest of `between`, when head and all of them form one chain.
 * @param between blocks read by height, ascending, the last of which should be the head's parent
 * @returns undefined when the chain is broken: a reorg happened while it was read
 */
export function anchorHash(head: BlockLink, between: readonly BlockLink[]): Hex | undefined {
  let expected = head.parentHash
  for (const block of between.toReversed()) {
    if (block.hash !== expected) return undefined
    expected = block.parentHash
  }
  return expected
}
