import { type AssetClass, divideDown, minBigint } from '@causeway/core'
import type { PriceRefusal, UsdPrice } from '../snapshot.ts'
import { distance, distanceBps } from './distance.ts'
import { type ClassGuards, classGuards, oneUsdX18, pegGuards } from './guards.ts'
import { type FreshReading, isFresh, type SourceReading } from './source.ts'

/**
 * The one price that all fresh sources support, or why there is none. The result lies between the
 * lowest and the highest fresh source and does not depend on their order.
 *
 * One fresh source is enough. A stablecoin is priced at market like everything else and carries
 * `depegBps` when it left its peg.
 * @source pricing-engine.md 2.3, design.md 5.4
 */
export function aggregate(args: {
  readonly readings: readonly SourceReading[]
  readonly assetClass: AssetClass
  readonly nowMs: number
}): UsdPrice | PriceRefusal {
  const { readings, assetClass, nowMs } = args
  const fresh = readings.filter((reading) => isFresh(reading, nowMs))
  if (fresh.length === 0) return { reason: everHadValue(readings) ? 'stale' : 'no_source' }

  const values = fresh.map(({ result }) => result.usdX18).sort((a, b) => (a < b ? -1 : a > b ? 1 : 0))
  const middle = median(values)
  const spreadBps = distanceBps(values[0] ?? middle, values.at(-1) ?? middle, middle)
  const guards: ClassGuards = classGuards[assetClass]
  if (spreadBps > guards.hardBps) return { reason: 'deviation' }

  const disagreeing = spreadBps > guards.softBps
  const usdX18 = disagreeing ? nearestPrimary(fresh, middle) : middle
  const depegBps = assetClass === 'stable' ? distanceBps(usdX18, oneUsdX18, oneUsdX18) : 0n
  if (depegBps > pegGuards.refuseBps) return { reason: 'depeg' }

  const depegged = depegBps > pegGuards.flagBps
  return {
    usdX18,
    updatedAtMs: Math.max(...fresh.map(({ result }) => result.updatedAtMs)),
    confidence: disagreeing || depegged ? 'degraded' : 'fresh',
    spreadBps,
    ...(depegged && { depegBps }),
  }
}

/** @param ascending not empty; the mean of the two middle values, rounded down, when their number is even */
function median(ascending: readonly bigint[]): bigint {
  const upper = ascending[Math.floor(ascending.length / 2)] ?? 0n
  const lower = ascending[Math.ceil(ascending.length / 2) - 1] ?? upper
  return divideDown(lower + upper, 2n)
}

/** Among feeds the nearest to `middle`, the lower of two equally near; without a feed `middle` itself. */
function nearestPrimary(fresh: readonly FreshReading[], middle: bigint): bigint {
  let nearest: bigint | undefined
  for (const { kind, result } of fresh) {
    if (kind !== 'feed') continue
    const offset = distance(result.usdX18, middle)
    const best = nearest === undefined ? undefined : distance(nearest, middle)
    if (nearest === undefined || best === undefined || offset < best) nearest = result.usdX18
    else if (offset === best) nearest = minBigint(nearest, result.usdX18)
  }
  return nearest ?? middle
}

function everHadValue(readings: readonly SourceReading[]): boolean {
  return readings.some(({ result }) => 'usdX18' in result)
}
