import { minBigint } from '@causeway/core'
import type { PassRange } from '@causeway/families'
import { createLruCache } from '@causeway/rpc'

/** Progress of a watcher of deposits, payments or top-ups through the blocks of its chain. */
export type BlockCursor = {
  /** Final blocks up to this one were read to their end. It moves back only where the chain ends below it. */
  readonly finalTo: bigint
  /** Newest block that was read while it was young, for speed. Its list may have been short, so it is read again once final. */
  readonly scannedTo: bigint
}

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
  // A chain that became shorter is read again from below its end.
  const known = minBigint(scannedTo, head)
  const to = minBigint(known + steps.rangeBlocks, head)
  const fullyListedTo = heightBelow(head, steps.lateBlocks)
  const from = minBigint(known, fullyListedTo > finalTo ? fullyListedTo : finalTo) + 1n
  return { known, from: minBigint(from, to), to }
}

/** The cursor after a reorganization has replaced block `known`: back by `rewindBlocks`, at most to final blocks. Pure. */
export function rewindCursor(
  { finalTo }: BlockCursor,
  known: bigint,
  { rewindBlocks }: WatchSteps,
): BlockCursor {
  const back = heightBelow(known, rewindBlocks)
  const scannedTo = finalTo < known && finalTo > back ? finalTo : back
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

const rememberedMax = 20_000
/** Pause before the second look at a transaction; it doubles with each further look. */
const pauseMs = 500
/** With the doubled pauses, the last look comes more than an hour after the first one. */
const looksMax = 13

/** A transaction that is to be looked at again. */
type OpenLook = {
  /** Looks until now. */
  readonly looks: number
  /** Unix milliseconds of the next look. */
  readonly dueMs: number
  /** True if the next look is the last one, even if it finds nothing. */
  readonly isLast?: boolean
}

/**
 * Remembers transactions of one chain: `settled` ones were read and are not read again with their block; `open` ones held
 * nothing yet and are looked at again, each after twice the pause before. Kept in memory: a restart reads some again,
 * which changes nothing.
 * @param now Unix milliseconds
 */
export function createReadMemory(now: () => number) {
  const settled = createLruCache<true>(rememberedMax)
  const open = createLruCache<OpenLook>(rememberedMax)
  return {
    now,
    /** True if a listed transaction is to be read. A look at final blocks does not wait for its pause. */
    isDue: (transactionId: string, by: 'live' | 'final'): boolean =>
      settled.get(transactionId) === undefined &&
      (by === 'final' || now() >= (open.get(transactionId)?.dueMs ?? 0)),
    /** Transactions that are due once more, whether a list still names them or not. */
    dueAgain: (): readonly string[] =>
      [...open.entries()].flatMap(([transactionId, { dueMs }]) => (now() >= dueMs ? [transactionId] : [])),
    /** Notes that the transaction was read for good. */
    settle(transactionId: string) {
      open.delete(transactionId)
      settled.set(transactionId, true)
    },
    /** Plans a look as soon as there is time, and no other one if it finds nothing. */
    lookOnce(transactionId: string) {
      open.set(transactionId, { looks: 0, dueMs: now(), isLast: true })
    },
    isLastLook: (transactionId: string): boolean => open.get(transactionId)?.isLast === true,
    /** Plans a new look at a transaction that held nothing or got no answer. @returns true the first time */
    lookLater(transactionId: string): boolean {
      const { looks, isLast } = { looks: 0, isLast: false, ...open.get(transactionId) }
      if (looks < looksMax)
        open.set(transactionId, { looks: looks + 1, dueMs: now() + pauseMs * 2 ** looks, isLast })
      else this.settle(transactionId)
      return looks === 0
    },
    /** Forgets all transactions, because the chain is no longer the one that was read. */
    forget() {
      settled.clear()
      open.clear()
    },
  }
}

export type ReadMemory = ReturnType<typeof createReadMemory>
