import { minBigint } from '@causeway/core'
import type { PassRange } from '@causeway/families'
import { createLruCache } from '@causeway/rpc'

/** Position of a watcher on its chain. */
export type BlockCursor = {
  /** Final blocks up to this one were read to their end. It moves back only where the chain ends below it. */
  readonly finalTo: bigint
  /** Newest block that was read, for speed: its list may have been short. */
  readonly scannedTo: bigint
}

export type WatchSteps = {
  /** Blocks of one question. */
  readonly rangeBlocks: bigint
  /** Blocks that are read again after a reorganization, and below the head at a first start. */
  readonly rewindBlocks: bigint
  /** Newest blocks of which endpoints may still list more. Zero where a look at younger blocks lists them all again. */
  readonly lateBlocks: bigint
}

export function firstCursor(head: bigint, { rewindBlocks }: WatchSteps): BlockCursor {
  const scannedTo = below(head, rewindBlocks)
  return { finalTo: scannedTo, scannedTo }
}

/** Range of the next look at the newest blocks, with those possibly listed late. Pure. @source F-70 */
export function liveRange({ finalTo, scannedTo }: BlockCursor, head: bigint, steps: WatchSteps): PassRange {
  // A chain that became shorter is read again from below its end.
  const known = minBigint(scannedTo, head)
  const to = minBigint(known + steps.rangeBlocks, head)
  const settled = below(head, steps.lateBlocks)
  const from = minBigint(known, settled > finalTo ? settled : finalTo) + 1n
  return { known, from: minBigint(from, to), to }
}

/** The cursor after a reorganization has replaced block `known`. Pure. */
export function rewindCursor(
  { finalTo }: BlockCursor,
  known: bigint,
  { rewindBlocks }: WatchSteps,
): BlockCursor {
  const back = below(known, rewindBlocks)
  const scannedTo = finalTo < known && finalTo > back ? finalTo : back
  return { finalTo: minBigint(finalTo, scannedTo), scannedTo }
}

/** The next final blocks that are to be read for good; undefined where there are none. Pure. @source F-70 */
export function finalRange(
  { finalTo }: Pick<BlockCursor, 'finalTo'>,
  { head, finalHeight }: { readonly head: bigint; readonly finalHeight: bigint },
  { rangeBlocks, lateBlocks }: Pick<WatchSteps, 'rangeBlocks' | 'lateBlocks'>,
): PassRange | undefined {
  const end = minBigint(finalHeight, below(head, lateBlocks))
  if (end <= finalTo) return undefined
  return { known: finalTo, from: finalTo + 1n, to: minBigint(finalTo + rangeBlocks, end) }
}

export function below(height: bigint, blocks: bigint): bigint {
  return height > blocks ? height - blocks : 0n
}

const rememberedMax = 20_000
const pauseMs = 500
/** The last look comes more than an hour after the first one. */
const looksMax = 13

type OpenLook = {
  readonly looks: number
  readonly dueMs: number
  /** Nothing comes late: one look that finds nothing is the last. */
  readonly isLast?: boolean
}

/**
 * Transactions of one chain that were read, so that none is read at each look at its block, and those that are to be
 * looked at again, each after twice the pause before. Kept in memory: a restart reads some again, which changes nothing.
 */
export function createReadMemory(now: () => number) {
  const settled = createLruCache<true>(rememberedMax)
  const open = createLruCache<OpenLook>(rememberedMax)
  return {
    now,
    isDue: (transactionId: string, by: 'live' | 'final'): boolean =>
      settled.get(transactionId) === undefined &&
      (by === 'final' || now() >= (open.get(transactionId)?.dueMs ?? 0)),
    /** Transactions that are due once more, whether a list still names them or not. */
    dueAgain: (): readonly string[] =>
      [...open.entries()].flatMap(([transactionId, { dueMs }]) => (now() >= dueMs ? [transactionId] : [])),
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
