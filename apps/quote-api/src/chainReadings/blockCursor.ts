import { maxBigint, minBigint } from '@causeway/core'
import type { PassRange } from '@causeway/families'

/** Progress of a watcher of deposits, payments or top-ups through the blocks of its chain. */
export type BlockCursor = {
  /** Final blocks up to this one were read to their end. It moves back only if this block left the chain. */
  readonly finalTo: bigint
  /** Newest block that was read while it was young, for speed. Its list may have been short, so it is read again once final. */
  readonly scannedTo: bigint
}

/** Settings of a watcher, in numbers of blocks. */
export type WatchSteps = {
  /** Most blocks that one question covers. */
  readonly rangeBlocks: bigint
  /** Blocks that are read again after a reorganization, and below the head at a first start. */
  readonly rewindBlocks: bigint
  /** Newest blocks whose lists may still grow at endpoints. Zero where a look at younger blocks lists them all again. */
  readonly lateBlocks: bigint
}

/** The cursor of a chain that was never read. Pure. */
export function firstCursor(head: bigint, { rewindBlocks }: WatchSteps): BlockCursor {
  const scannedTo = heightBelow(head, rewindBlocks)
  return { finalTo: scannedTo, scannedTo }
}

/**
 * Range of the next look at the newest blocks. It begins with blocks already read whose lists may have grown. `known` is
 * the newest block read before; a changed hash of it shows a reorganization. Pure. @source F-70
 */
export function liveRange({ finalTo, scannedTo }: BlockCursor, head: bigint, steps: WatchSteps): PassRange {
  // In a chain that became shorter this is its end, which callers take for a reorganization.
  const known = minBigint(scannedTo, head)
  const to = minBigint(known + steps.rangeBlocks, head)
  const fullyListedTo = maxBigint(finalTo, heightBelow(head, steps.lateBlocks))
  const from = minBigint(known, fullyListedTo) + 1n
  // Without a new block the newest one is read again, so that the range is never empty.
  return { known, from: minBigint(from, to), to }
}

/** The cursor after a reorganization has replaced block `known`: back by `rewindBlocks`, at most to final blocks. Pure. */
export function rewindCursor(
  { finalTo }: BlockCursor,
  known: bigint,
  { rewindBlocks }: WatchSteps,
): BlockCursor {
  const rewoundTo = heightBelow(known, rewindBlocks)
  // Final blocks are not read again, unless the replaced block was one of them.
  const scannedTo = finalTo < known ? maxBigint(finalTo, rewoundTo) : rewoundTo
  return { finalTo: minBigint(finalTo, scannedTo), scannedTo }
}

/** The next final blocks to read for good, once their lists are full; undefined if there are none. Pure. @source F-70 */
export function finalRange(
  { finalTo }: Pick<BlockCursor, 'finalTo'>,
  { head, finalHeight }: { readonly head: bigint; readonly finalHeight: bigint },
  { rangeBlocks, lateBlocks }: Pick<WatchSteps, 'rangeBlocks' | 'lateBlocks'>,
): PassRange | undefined {
  const end = minBigint(finalHeight, heightBelow(head, lateBlocks))
  if (end <= finalTo) return undefined
  return { known: finalTo, from: finalTo + 1n, to: minBigint(finalTo + rangeBlocks, end) }
}

/** The height so many blocks below, at least 0. */
export function heightBelow(height: bigint, blocks: bigint): bigint {
  return height > blocks ? height - blocks : 0n
}
