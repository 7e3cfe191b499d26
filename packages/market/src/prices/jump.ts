import type { PriceRefusal, UsdPrice } from '../snapshot.ts'
import type { Standing } from './aggregate.ts'
import { distance, distanceBps } from './guards.ts'
import { hasIndependentPair, isWitness } from './secondSource.ts'
import type { FreshReading } from './source.ts'

/** State of one price between two samples. */
export type JumpState = {
  /** The last published price and when its sources were last read. */
  readonly published?: { readonly price: UsdPrice; readonly readAtMs: number }
  /** A jump that a later reading may confirm; only where no second source is asked for. */
  readonly pending?: { readonly usdX18: bigint; readonly readAtMs: number }
}

export type JumpVerdict = { readonly state: JumpState; readonly price: UsdPrice | PriceRefusal }

/**
 * Publishes a price at once unless it jumped. A jump is published when two independently reached sources lie nearer to
 * the new value than to the old one; until then the price is refused, because the old one would be an offer at a price
 * that the market may have left. A repetition by one source confirms nothing.
 *
 * Without the need for a second source, a jump is confirmed by any two sources, pools too, or by a later reading that
 * repeats it. In between, the previous price stays while its last reading is younger than `holdMaxMs`.
 * @source rules
 */
export function settleJump(
  args: Standing & {
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
  })

  const previous = state.published
  if (previous === undefined) return publish()
  const previousUsdX18 = previous.price.usdX18
  if (distanceBps(candidate.usdX18, previousUsdX18, previousUsdX18) <= jumpBps) return publish()

  const witnesses = readings.filter(
    ({ result }) => distance(result.usdX18, candidate.usdX18) < distance(result.usdX18, previousUsdX18),
  )
  if (!isExempt) {
    const sources = witnesses.map(({ source }) => source)
    if (hasIndependentPair(sources, hostsOf)) return publish()
    return { state: { published: previous }, price: { reason: 'unconfirmed_jump' } }
  }
  const readAtMs = Math.max(0, ...witnesses.map((witness) => witness.readAtMs))
  const earlier = repeated(state.pending, candidate.usdX18, jumpBps)
  if (witnesses.length >= 2 || (earlier !== undefined && readAtMs > earlier.readAtMs)) return publish()

  const pending = earlier ?? { usdX18: candidate.usdX18, readAtMs }
  const usable = nowMs - previous.readAtMs <= args.holdMaxMs
  return {
    state: { published: previous, pending },
    price: usable ? previous.price : { reason: 'unconfirmed_jump' },
  }
}

/** The waiting jump, when `usdX18` is the same one again. */
function repeated(pending: JumpState['pending'], usdX18: bigint, jumpBps: bigint): JumpState['pending'] {
  if (pending === undefined) return undefined
  return distanceBps(usdX18, pending.usdX18, pending.usdX18) <= jumpBps ? pending : undefined
}
