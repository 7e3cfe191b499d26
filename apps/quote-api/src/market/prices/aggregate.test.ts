// Goal: every row of the aggregation rules. Method: readings made by hand.
import { describe, expect, test } from 'vitest'
import { aggregate } from './aggregate.ts'
import { oneUsdX18 } from './guards.ts'
import type { SourceFault, SourceKind, SourceReading } from './source.ts'

const nowMs = 1_800_000_000_000

/** A price in ten-thousandths of a USD, so that tests read as percentages. */
function usd(tenThousandths: number): bigint {
  return (oneUsdX18 * BigInt(tenThousandths)) / 10_000n
}

function reading(
  kind: SourceKind,
  tenThousandths: number,
  options: { id?: number; ageMs?: number; freshForMs?: number } = {},
): SourceReading {
  const { id = 1, ageMs = 1_000, freshForMs = 60_000 } = options
  const updatedAtMs = nowMs - ageMs
  return {
    source: `${kind} ${id}`,
    kind,
    readAtMs: nowMs,
    result: { usdX18: usd(tenThousandths), updatedAtMs, freshUntilMs: updatedAtMs + freshForMs },
  }
}

function faulty(kind: SourceKind, fault: SourceFault): SourceReading {
  return { source: `${kind} faulty`, kind, readAtMs: nowMs, result: { fault } }
}

const stale = { ageMs: 60_001 }

describe('aggregate', () => {
  test('takes the median of the fresh sources', () => {
    const two = [reading('feed', 20_000), reading('pool', 20_100)]
    expect(aggregate({ readings: two, assetClass: 'major', nowMs })).toEqual({
      usdX18: usd(20_050),
      updatedAtMs: nowMs - 1_000,
      confidence: 'fresh',
      spreadBps: 50n,
    })
    const three = [...two, reading('http', 20_090)]
    expect(aggregate({ readings: three, assetClass: 'major', nowMs })).toMatchObject({ usdX18: usd(20_090) })
  })

  test('dates a price by its newest fresh source', () => {
    const readings = [reading('feed', 20_000, { ageMs: 50_000 }), reading('pool', 20_000, { ageMs: 200 })]
    expect(aggregate({ readings, assetClass: 'major', nowMs })).toMatchObject({ updatedAtMs: nowMs - 200 })
  })

  test.each(['feed', 'pool', 'http'] as const)('is satisfied with one fresh %s', (kind) => {
    const readings = [reading(kind, 20_000), reading('http', 10_000, { ...stale, id: 2 })]
    expect(aggregate({ readings, assetClass: 'major', nowMs })).toMatchObject({
      usdX18: usd(20_000),
      confidence: 'fresh',
      spreadBps: 0n,
    })
  })

  test('counts a value up to its last fresh moment and not one millisecond longer', () => {
    const readings = [reading('feed', 20_000, { ageMs: 60_000 })]
    expect(aggregate({ readings, assetClass: 'major', nowMs })).toMatchObject({ usdX18: usd(20_000) })
    expect(aggregate({ readings, assetClass: 'major', nowMs: nowMs + 1 })).toEqual({ reason: 'stale' })
  })

  test('refuses as stale when nothing is fresh and as without source when nothing ever was', () => {
    const old = [reading('feed', 20_000, stale), faulty('pool', 'thin_pool')]
    expect(aggregate({ readings: old, assetClass: 'major', nowMs })).toEqual({ reason: 'stale' })
    const none = [faulty('feed', 'not_positive'), faulty('pool', 'no_answer')]
    expect(aggregate({ readings: none, assetClass: 'major', nowMs })).toEqual({ reason: 'no_source' })
    expect(aggregate({ readings: [], assetClass: 'major', nowMs })).toEqual({ reason: 'no_source' })
  })

  test.each<SourceFault>(['not_positive', 'from_the_future', 'misdescribed', 'wide_confidence', 'thin_pool'])(
    'ignores a source with the fault %s',
    (fault) => {
      const readings = [reading('feed', 20_000), faulty('pool', fault)]
      expect(aggregate({ readings, assetClass: 'major', nowMs })).toMatchObject({ confidence: 'fresh' })
    },
  )

  test.each([
    ['stable', 10_000, 10_049, 'fresh'],
    ['stable', 10_000, 10_051, 'degraded'],
    ['major', 20_000, 20_200, 'fresh'],
    ['major', 20_000, 20_204, 'degraded'],
    ['longtail', 20_000, 21_000, 'fresh'],
    ['longtail', 20_000, 21_030, 'degraded'],
  ] as const)('%s: sources at %i and %i make the price %s', (assetClass, low, high, confidence) => {
    const readings = [reading('feed', low), reading('pool', high)]
    const price = aggregate({ readings, assetClass, nowMs })
    expect(price).toMatchObject({ confidence })
  })

  test.each([
    ['stable', 10_000, 10_200],
    ['major', 20_000, 20_600],
    ['longtail', 20_000, 23_200],
  ] as const)('%s: sources at %i and %i are within the hard limit', (assetClass, low, high) => {
    const readings = [reading('feed', low), reading('pool', high)]
    expect(aggregate({ readings, assetClass, nowMs })).toMatchObject({ confidence: 'degraded' })
  })

  test.each([
    ['stable', 10_000, 10_203],
    ['major', 20_000, 20_610],
    ['longtail', 20_000, 23_250],
  ] as const)('%s: sources at %i and %i deviate too far', (assetClass, low, high) => {
    const readings = [reading('feed', low), reading('pool', high)]
    expect(aggregate({ readings, assetClass, nowMs })).toEqual({ reason: 'deviation' })
  })

  test('a degraded price is the feed nearest to the median, not the median', () => {
    const readings = [
      reading('feed', 20_000),
      reading('feed', 20_350, { id: 2 }),
      reading('pool', 20_400),
      reading('http', 20_450),
    ]
    expect(aggregate({ readings, assetClass: 'major', nowMs })).toMatchObject({
      usdX18: usd(20_350),
      confidence: 'degraded',
      spreadBps: 221n,
    })
  })

  test('a degraded price without a feed is the median', () => {
    const readings = [reading('pool', 20_000), reading('http', 20_400)]
    expect(aggregate({ readings, assetClass: 'major', nowMs })).toMatchObject({ usdX18: usd(20_200) })
  })

  test('a stablecoin is priced at market and never pinned to 1', () => {
    const readings = [reading('feed', 9_987), reading('pool', 9_989)]
    const price = aggregate({ readings, assetClass: 'stable', nowMs })
    expect(price).toMatchObject({ usdX18: usd(9_988), confidence: 'fresh' })
    expect(price).not.toHaveProperty('depegBps')
  })

  test.each([
    [9_950, 'fresh', undefined],
    [9_949, 'degraded', 51n],
    [10_051, 'degraded', 51n],
    [9_500, 'degraded', 500n],
  ] as const)('a stablecoin at %i ten-thousandths is %s', (value, confidence, depegBps) => {
    const price = aggregate({ readings: [reading('feed', value)], assetClass: 'stable', nowMs })
    expect(price).toMatchObject({ usdX18: usd(value), confidence })
    expect('depegBps' in price ? price.depegBps : undefined).toBe(depegBps)
  })

  test.each([9_499, 10_501, 5_000])('a stablecoin at %i ten-thousandths is refused', (value) => {
    const price = aggregate({ readings: [reading('feed', value)], assetClass: 'stable', nowMs })
    expect(price).toEqual({ reason: 'depeg' })
  })

  test('a price far from 1 is no depeg for other classes', () => {
    const readings = [reading('feed', 1)]
    for (const assetClass of ['major', 'longtail'] as const) {
      expect(aggregate({ readings, assetClass, nowMs })).toMatchObject({ confidence: 'fresh' })
    }
  })
})
