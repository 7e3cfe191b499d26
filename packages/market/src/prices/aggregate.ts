import { type AssetClass, divideDown } from '@causeway/core'
import type { PriceRefusal, UsdPrice } from '../snapshot.ts'
import { type ClassGuards, classGuards, distanceBps, oneUsdX18, pegGuards } from './guards.ts'
import { hasIndependentPair, isWitness, type SecondSource, type SourcePlan } from './secondSource.ts'
import { type FreshReading, isFresh, type SourceReading } from './source.ts'

/** Rule on second sources of a price, and the hosts by which sources count as independent. */
export type SecondSourceState = Pick<SourcePlan, 'hostsOf'> & { readonly secondSource: SecondSource }

/**
 * Computes the price that the fresh sources support, or the reason that there is none. The value lies between the
 * lowest and the highest of them and does not depend on their order. It is the median of the primary sources: feeds,
 * without one signed prices, without either the HTTP services. The other sources only confirm it, widen its spread, or
 * by their distance cause its refusal.
 *
 * Pools never make a price. They guard one that rests on a single source: if more than half of the pools that are
 * costly to move lie beyond the hard limit, the price is refused. Two independent sources overrule all pools.
 *
 * A stablecoin is priced at market like everything else and carries `depegBps` when it left its peg.
 * @source rules
 */
export function aggregate(
  args: SecondSourceState & {
    readonly readings: readonly SourceReading[]
    readonly assetClass: AssetClass
    readonly nowMs: number
  },
): UsdPrice | PriceRefusal {
  const { readings, assetClass, nowMs, hostsOf, secondSource } = args
  const fresh = readings.filter((reading) => isFresh(reading, nowMs))
  const witnesses = fresh.filter(isWitness)
  if (witnesses.length === 0) return { reason: everHadValue(readings) ? 'stale' : 'no_source' }
  const sources = witnesses.map(({ source }) => source)
  const hasSecondSource = hasIndependentPair(sources, hostsOf)
  if (secondSource === 'required' && !hasSecondSource) return { reason: 'second_source_missing' }

  const values = ascending(witnesses)
  const middle = median(values)
  const spreadBps = distanceBps(values[0] ?? middle, values.at(-1) ?? middle, middle)
  const guards: ClassGuards = classGuards[assetClass]
  if (spreadBps > guards.hardBps) return { reason: 'deviation' }

  const isDisputed = spreadBps > guards.softBps
  const usdX18 = median(ascending(primaries(witnesses)))
  if (!hasSecondSource && isContradicted(usdX18, fresh, guards.hardBps)) return { reason: 'deviation' }
  const depegBps = assetClass === 'stable' ? distanceBps(usdX18, oneUsdX18, oneUsdX18) : 0n
  if (depegBps > pegGuards.refuseBps) return { reason: 'depeg' }

  const isDepegged = depegBps > pegGuards.flagBps
  return {
    usdX18,
    updatedAtMs: Math.max(...witnesses.map(({ result }) => result.updatedAtMs)),
    confidence: isDisputed || isDepegged ? 'degraded' : 'fresh',
    spreadBps,
    ...(isDepegged && { depegBps }),
  }
}

/** True if more than half of the pools lie beyond the limit. */
function isContradicted(usdX18: bigint, fresh: readonly FreshReading[], hardBps: bigint): boolean {
  const pools = fresh.filter((reading) => !isWitness(reading))
  const against = pools.filter(({ result }) => distanceBps(result.usdX18, usdX18, usdX18) > hardBps)
  return 2 * against.length > pools.length
}

/** Sources that make the value: feeds, without a fresh one signed prices, without either the HTTP services. */
function primaries(witnesses: readonly FreshReading[]): readonly FreshReading[] {
  for (const primary of primaryKinds) {
    const readings = witnesses.filter(({ kind }) => kind === primary)
    if (readings.length > 0) return readings
  }
  return witnesses
}

const primaryKinds = ['feed', 'signed'] as const

function ascending(readings: readonly FreshReading[]): readonly bigint[] {
  return readings.map(({ result }) => result.usdX18).sort((a, b) => Number(a - b))
}

/** @param values ascending, not empty; the mean of the two middle ones, rounded down, when their number is even */
function median(values: readonly bigint[]): bigint {
  const upper = values[Math.floor(values.length / 2)] ?? 0n
  const lower = values[Math.ceil(values.length / 2) - 1] ?? upper
  return divideDown(lower + upper, 2n)
}

function everHadValue(readings: readonly SourceReading[]): boolean {
  return readings.filter(isWitness).some(({ result }) => 'usdX18' in result)
}
