import type { PriceRefusal, UsdPrice } from '../snapshot.ts'
import { distance, distanceBps } from './distance.ts'
import type { FreshReading } from './source.ts'

/** What is remembered about one price between two samples. */
export type JumpState = {
  /** The last published price and when its sources were last read. */
  readonly published?: { readonly price: UsdPrice; readonly readAtMs: number }
  /** A jump that waits for its witness. */
  readonly pending?: { readonly usdX18: bigint; readonly readAtMs: number }
}

export type JumpVerdict = { readonly state: JumpState; readonly price: UsdPrice | PriceRefusal }

/**
 * Publishes a price at once unless it jumped. A jump is published when a second source moved along
 * (two fresh sources lie nearer to the new value than to the old one), or when a later reading
 * repeats it. Until then the previous price stays while its last reading is younger than `holdMaxMs`.
 * @source pricing-engine.md 6.1
 */
export function settleJump(args: {
  readonly state: JumpState
  readonly candidate: UsdPrice
  /** The fresh sources behind the candidate. */
  readonly readings: readonly FreshReading[]
  readonly jumpBps: bigint
  readonly holdMaxMs: number
  readonly nowMs: number
}): JumpVerdict {
  const { state, candidate, readings, jumpBps, nowMs } = args
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
