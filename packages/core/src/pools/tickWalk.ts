import type { InitializedTick, PoolState } from './poolState.ts'
import { maxTick, minTick } from './tickMath.ts'

/** Ticks per word of a pool's bitmap, in units of the tick spacing. */
const wordTicks = 256

/**
 * A swap's walk along a pool's ticks, down when `zeroForOne`. The pool contract searches its next tick in one word of
 * its bitmap at a time, so it also stops at the end of a word without a tick. Amounts round at each stop, so this walk
 * makes the same stops.
 */
export type TickWalk = {
  readonly ticks: readonly InitializedTick[]
  readonly tickSpacing: number
  readonly zeroForOne: boolean
  /** Tick the walk stands on; crossing downwards leaves it one below the crossed tick. */
  tick: number
  /** Position in `ticks` of the next tick in the walk's direction; −1 or `ticks.length` past the last. */
  position: number
}

export function startWalk(
  state: Pick<PoolState, 'ticks' | 'tick' | 'tickSpacing'>,
  zeroForOne: boolean,
): TickWalk {
  const { ticks, tick, tickSpacing } = state
  const firstAbove = countAtOrBelow(ticks, tick)
  return { ticks, tickSpacing, zeroForOne, tick, position: zeroForOne ? firstAbove - 1 : firstAbove }
}

/** The next initialised tick in the word that the pool would search, else the end of that word. */
export function nextStop({ ticks, tickSpacing, zeroForOne, tick, position }: TickWalk): number {
  const slot = Math.floor(tick / tickSpacing)
  const candidate = ticks[position]
  if (zeroForOne) {
    const wordStart = (slot - slotInWord(slot)) * tickSpacing
    return Math.max(candidate === undefined ? wordStart : Math.max(candidate.index, wordStart), minTick)
  }
  // Upwards the pool searches the word of the next slot, because the tick of its own slot is crossed already.
  const nextSlot = slot + 1
  const wordEnd = (nextSlot - slotInWord(nextSlot) + wordTicks - 1) * tickSpacing
  return Math.min(candidate === undefined ? wordEnd : Math.min(candidate.index, wordEnd), maxTick)
}

/**
 * The next initialised tick, or the end of all ticks. A swap jumps to it while there is no liquidity, because
 * no stop on the way moves any amount; otherwise only code that ignores the rounding at stops may use it.
 */
export function nextTickOrEnd({ ticks, zeroForOne, position }: TickWalk): number {
  return ticks[position]?.index ?? (zeroForOne ? minTick : maxTick)
}

/**
 * Moves the walk past a stop.
 * @returns the liquidity that crossing it adds (signed), undefined when the stop was not an initialised tick
 */
export function passStop(walk: TickWalk, stop: number): bigint | undefined {
  walk.tick = walk.zeroForOne ? stop - 1 : stop
  const tick = walk.ticks[walk.position]
  if (tick?.index !== stop) return undefined
  walk.position += walk.zeroForOne ? -1 : 1
  return walk.zeroForOne ? -tick.liquidityNet : tick.liquidityNet
}

/** Number of ticks at or below `tick`, by bisection. The default for `middle` only satisfies the type. */
function countAtOrBelow(ticks: readonly InitializedTick[], tick: number): number {
  let low = 0
  let high = ticks.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((ticks[middle]?.index ?? maxTick) <= tick) low = middle + 1
    else high = middle
  }
  return low
}

/** Position inside a word, for negative slots too: two's complement keeps the low bits right. */
function slotInWord(slot: number): number {
  return slot & (wordTicks - 1)
}
