import type { PriceRefusal, UsdPrice } from '../snapshot.ts'
import type { SecondSourceState } from './aggregate.ts'
import { distance, distanceBps } from './guards.ts'
import { hasIndependentPair, isWitness } from './secondSource.ts'
import type { FreshReading } from './source.ts'

/** State that one evaluation of a price keeps for the next. */
export type JumpState = {
  /** The last published price and when its sources were last read; absent before the first. */
  readonly published?: { readonly price: UsdPrice; readonly readAtMs: number }
  /** A jump that a later reading may confirm; only for prices that are exempt from second sources. */
  readonly pending?: { readonly usdX18: bigint; readonly readAtMs: number }
}

/** The price to publish now, and the state for the next evaluation. */
export type JumpVerdict = {
  readonly state: JumpState
  readonly price: UsdPrice | PriceRefusal
  /** Moment from which the earlier price no longer stands in for an unconfirmed jump; `Infinity` unless it does. */
  readonly changesAtMs: number
}

/**
 * Publishes a price at once unless it jumped. A jump is published when two independent sources lie nearer to the new
 * value than to the old one. Until then the price is refused, because the market may have left the old one. A
 * repetition by one source confirms nothing.
 *
 * Prices that are exempt from second sources: a jump is confirmed by any two sources, pools included, or by a later
 * reading that repeats it. Until then the previous price stays, while its last reading is younger than `holdMaxMs`.
 * @source rules
 */
export function settleJump(
  args: SecondSourceState & {
    readonly state: JumpState
    readonly candidate: UsdPrice
    /** The fresh sources of the price, pools among them. */
    readonly readings: readonly FreshReading[]
    readonly jumpBps: bigint
    readonly holdMaxMs: number
    readonly nowMs: number
  },
): JumpVerdict {
  const { state, candidate, jumpBps, nowMs, hostsOf, secondSource } = args
  const isExempt = secondSource === 'exempt'
  const readings = args.readings.filter((reading) => isExempt || isWitness(reading))
  const newestReadAtMs = Math.max(...readings.map(({ readAtMs }) => readAtMs))
  const publish = (): JumpVerdict => ({
    state: { published: { price: candidate, readAtMs: newestReadAtMs } },
    price: candidate,
    changesAtMs: Infinity,
  })

  const previous = state.published
  if (previous === undefined) return publish()
  const previousUsdX18 = previous.price.usdX18
  if (distanceBps(candidate.usdX18, previousUsdX18, previousUsdX18) <= jumpBps) return publish()

  const confirming = readings.filter(
    ({ result }) => distance(result.usdX18, candidate.usdX18) < distance(result.usdX18, previousUsdX18),
  )
  if (!isExempt) {
    const sources = confirming.map(({ source }) => source)
    if (hasIndependentPair(sources, hostsOf)) return publish()
    return { state: { published: previous }, price: refusal, changesAtMs: Infinity }
  }
  // 0 if no source confirms the jump: then it counts as no repetition.
  const readAtMs = Math.max(0, ...confirming.map((reading) => reading.readAtMs))
  const samePending = findSameJump(state.pending, candidate.usdX18, jumpBps)
  const isRepeated = samePending !== undefined && readAtMs > samePending.readAtMs
  if (confirming.length >= 2 || isRepeated) return publish()

  const pending = samePending ?? { usdX18: candidate.usdX18, readAtMs }
  const heldUntilMs = previous.readAtMs + args.holdMaxMs
  return {
    state: { published: previous, pending },
    price: nowMs <= heldUntilMs ? previous.price : refusal,
    changesAtMs: heldUntilMs + 1,
  }
}

const refusal: PriceRefusal = { reason: 'unconfirmed_jump' }

/** The pending jump, if `usdX18` is within `jumpBps` of it. */
function findSameJump(pending: JumpState['pending'], usdX18: bigint, jumpBps: bigint): JumpState['pending'] {
  if (pending === undefined) return undefined
  return distanceBps(usdX18, pending.usdX18, pending.usdX18) <= jumpBps ? pending : undefined
}
