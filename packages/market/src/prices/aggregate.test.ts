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

/** No source has hosts of its own, and none is asked for a second one. */
const exempt = { hostsOf: new Map(), secondSource: 'exempt' } as const

/** The first of the hosts is behind every feed, the second behind every HTTP service. */
function required(...hosts: readonly string[]) {
  const [feedHost = 'a.example', httpHost = 'b.example'] = hosts
  const hostsOf = new Map([
    ['feed 1', new Set([feedHost])],
    ['feed 2', new Set([feedHost])],
    ['http 1', new Set([httpHost])],
  ])
  return { hostsOf, secondSource: 'required' } as const
}

describe('aggregate', () => {
  test('takes the median of the fresh feeds, and an HTTP service moves nothing but the spread', () => {
    const two = [reading('feed', 20_000), reading('feed', 20_100, { id: 2 })]
    const price = { usdX18: usd(20_050), updatedAtMs: nowMs - 1_000, confidence: 'fresh', spreadBps: 50n }
    expect(aggregate({ ...exempt, readings: two, assetClass: 'major', nowMs })).toEqual(price)
    const three = [...two, reading('http', 20_190)]
    expect(aggregate({ ...exempt, readings: three, assetClass: 'major', nowMs })).toEqual({
      ...price,
      spreadBps: 95n,
    })
  })

  test('takes the median of HTTP services where no feed is fresh', () => {
    const readings = [
      reading('feed', 30_000, stale),
      reading('http', 20_000),
      reading('http', 20_100, { id: 2 }),
    ]
    expect(aggregate({ ...exempt, readings, assetClass: 'major', nowMs })).toMatchObject({
      usdX18: usd(20_050),
    })
  })

  test.each([19_900, 20_250])(
    'lets signed prices make the value where no feed is fresh: beside %i',
    (unsigned) => {
      const readings = [reading('feed', 30_000, stale), reading('signed', 20_000), reading('http', unsigned)]
      expect(aggregate({ ...exempt, readings, assetClass: 'major', nowMs })).toMatchObject({
        usdX18: usd(20_000),
      })
    },
  )

  test('dates a price by its newest fresh source', () => {
    const readings = [reading('feed', 20_000, { ageMs: 50_000 }), reading('http', 20_000, { ageMs: 200 })]
    expect(aggregate({ ...exempt, readings, assetClass: 'major', nowMs })).toMatchObject({
      updatedAtMs: nowMs - 200,
    })
  })

  test.each(['feed', 'http'] as const)('is satisfied with one fresh %s', (kind) => {
    const readings = [reading(kind, 20_000), reading('http', 10_000, { ...stale, id: 2 })]
    expect(aggregate({ ...exempt, readings, assetClass: 'major', nowMs })).toMatchObject({
      usdX18: usd(20_000),
      confidence: 'fresh',
      spreadBps: 0n,
    })
  })

  test('counts a value up to its last fresh moment and not one millisecond longer', () => {
    const readings = [reading('feed', 20_000, { ageMs: 60_000 })]
    expect(aggregate({ ...exempt, readings, assetClass: 'major', nowMs })).toMatchObject({
      usdX18: usd(20_000),
    })
    expect(aggregate({ ...exempt, readings, assetClass: 'major', nowMs: nowMs + 1 })).toEqual({
      reason: 'stale',
    })
  })

  test('counts no value without the moment at which it was read', () => {
    const { readAtMs: _, ...unread } = reading('feed', 20_000)
    expect(aggregate({ ...exempt, readings: [unread], assetClass: 'major', nowMs })).toEqual({
      reason: 'stale',
    })
  })

  test('refuses as stale when nothing is fresh and as without source when nothing ever was', () => {
    const old = [reading('feed', 20_000, stale), faulty('pool', 'thin_pool')]
    expect(aggregate({ ...exempt, readings: old, assetClass: 'major', nowMs })).toEqual({ reason: 'stale' })
    const none = [faulty('feed', 'not_positive'), faulty('http', 'no_answer')]
    expect(aggregate({ ...exempt, readings: none, assetClass: 'major', nowMs })).toEqual({
      reason: 'no_source',
    })
    expect(aggregate({ ...exempt, readings: [], assetClass: 'major', nowMs })).toEqual({
      reason: 'no_source',
    })
  })

  test.each<SourceFault>(['not_positive', 'from_the_future', 'misdescribed', 'wide_confidence', 'thin_pool'])(
    'ignores a source with the fault %s',
    (fault) => {
      const readings = [reading('feed', 20_000), faulty('pool', fault)]
      expect(aggregate({ ...exempt, readings, assetClass: 'major', nowMs })).toMatchObject({
        confidence: 'fresh',
      })
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
    const readings = [reading('feed', low), reading('http', high)]
    const price = aggregate({ ...exempt, readings, assetClass, nowMs })
    expect(price).toMatchObject({ confidence })
  })

  test.each([
    ['stable', 9_900, 10_100],
    ['major', 19_700, 20_300],
    ['longtail', 18_500, 21_500],
  ] as const)('%s: sources at %i and %i are within the hard limit', (assetClass, low, high) => {
    const readings = [reading('feed', low), reading('http', high)]
    expect(aggregate({ ...exempt, readings, assetClass, nowMs })).toMatchObject({ confidence: 'degraded' })
  })

  test.each([
    ['stable', 9_900, 10_101],
    ['major', 19_700, 20_301],
    ['longtail', 18_500, 21_501],
  ] as const)('%s: sources at %i and %i deviate too far', (assetClass, low, high) => {
    const readings = [reading('feed', low), reading('http', high)]
    expect(aggregate({ ...exempt, readings, assetClass, nowMs })).toEqual({ reason: 'deviation' })
  })

  test.each([[], [20_250], [20_400, 20_450], [19_900]])(
    'Q-173: services choose no feed among several: beside %j',
    (...services) => {
      const readings = [
        reading('feed', 20_000),
        reading('feed', 20_190, { id: 2 }),
        ...services.map((value, index) => reading('http', value, { id: index })),
      ]
      expect(aggregate({ ...exempt, readings, assetClass: 'major', nowMs })).toMatchObject({
        usdX18: usd(20_095),
        confidence: services.length === 0 ? 'fresh' : 'degraded',
      })
    },
  )

  test('a degraded price without a feed is the median', () => {
    const readings = [reading('http', 20_000), reading('http', 20_400, { id: 2 })]
    expect(aggregate({ ...exempt, readings, assetClass: 'major', nowMs })).toMatchObject({
      usdX18: usd(20_200),
    })
  })

  test('a stablecoin is priced at market and never pinned to 1', () => {
    const readings = [reading('feed', 9_987), reading('http', 9_989)]
    const price = aggregate({ ...exempt, readings, assetClass: 'stable', nowMs })
    expect(price).toMatchObject({ usdX18: usd(9_987), confidence: 'fresh' })
    expect(price).not.toHaveProperty('depegBps')
  })

  test.each([
    [9_950, 'fresh', undefined],
    [9_949, 'degraded', 51n],
    [10_051, 'degraded', 51n],
    [9_500, 'degraded', 500n],
  ] as const)('a stablecoin at %i ten-thousandths is %s', (value, confidence, depegBps) => {
    const price = aggregate({ ...exempt, readings: [reading('feed', value)], assetClass: 'stable', nowMs })
    expect(price).toMatchObject({ usdX18: usd(value), confidence })
    expect('depegBps' in price ? price.depegBps : undefined).toBe(depegBps)
  })

  test.each([9_499, 10_501, 5_000])('a stablecoin at %i ten-thousandths is refused', (value) => {
    const price = aggregate({ ...exempt, readings: [reading('feed', value)], assetClass: 'stable', nowMs })
    expect(price).toEqual({ reason: 'depeg' })
  })

  test('a price far from 1 is no depeg for other classes', () => {
    const readings = [reading('feed', 1)]
    for (const assetClass of ['major', 'longtail'] as const) {
      expect(aggregate({ ...exempt, readings, assetClass, nowMs })).toMatchObject({ confidence: 'fresh' })
    }
  })

  describe('a second source', () => {
    const at = (feed: number, http: number) => [reading('feed', feed), reading('http', http)]

    test('that is missing for longer than its maximum age refuses the asset', () => {
      const readings = [reading('feed', 20_000), reading('http', 20_000, stale)]
      expect(aggregate({ ...required(), readings, assetClass: 'major', nowMs })).toEqual({
        reason: 'second_source_missing',
      })
      expect(aggregate({ ...exempt, readings, assetClass: 'major', nowMs })).toHaveProperty('usdX18')
    })

    test('that agrees lets the feed decide', () => {
      expect(aggregate({ ...required(), readings: at(20_000, 20_100), assetClass: 'major', nowMs })).toEqual({
        usdX18: usd(20_000),
        updatedAtMs: nowMs - 1_000,
        confidence: 'fresh',
        spreadBps: 50n,
      })
    })

    test('behind the host of the first is none', () => {
      const shared = required('a.example', 'a.example')
      expect(aggregate({ ...shared, readings: at(20_000, 20_000), assetClass: 'major', nowMs })).toEqual({
        reason: 'second_source_missing',
      })
    })

    test('whose hosts are not known overrules no pool', () => {
      const readings = [...at(20_000, 20_000), reading('pool', 30_000)]
      expect(aggregate({ ...exempt, readings, assetClass: 'major', nowMs })).toEqual({ reason: 'deviation' })
    })

    test('is never a pool', () => {
      const readings = [reading('feed', 20_000), reading('pool', 20_000)]
      expect(aggregate({ ...required(), readings, assetClass: 'major', nowMs })).toEqual({
        reason: 'second_source_missing',
      })
    })
  })

  describe('a pool', () => {
    test('makes no price', () => {
      const readings = [reading('pool', 20_000), reading('feed', 20_000, stale)]
      expect(aggregate({ ...exempt, readings, assetClass: 'major', nowMs })).toEqual({ reason: 'stale' })
      const alone = [reading('pool', 20_000)]
      expect(aggregate({ ...exempt, readings: alone, assetClass: 'major', nowMs })).toEqual({
        reason: 'no_source',
      })
    })

    test.each([20_600, 19_400])('within the hard limit, at %i, changes nothing', (pool) => {
      const readings = [reading('feed', 20_000), reading('pool', pool)]
      expect(aggregate({ ...exempt, readings, assetClass: 'major', nowMs })).toEqual(
        aggregate({ ...exempt, readings: [reading('feed', 20_000)], assetClass: 'major', nowMs }),
      )
    })

    test.each([20_601, 19_399])('beyond it, at %i, refuses what rests on one voice', (pool) => {
      const readings = [reading('feed', 20_000), reading('pool', pool)]
      expect(aggregate({ ...exempt, readings, assetClass: 'major', nowMs })).toEqual({ reason: 'deviation' })
    })

    test('is overruled by two sources that are reached apart, and by as many pools that agree', () => {
      const apart = [reading('feed', 20_000), reading('http', 20_000), reading('pool', 30_000)]
      expect(aggregate({ ...required(), readings: apart, assetClass: 'major', nowMs })).toMatchObject({
        usdX18: usd(20_000),
        confidence: 'fresh',
        spreadBps: 0n,
      })
      const pools = [reading('feed', 20_000), reading('pool', 30_000), reading('pool', 20_000, { id: 2 })]
      expect(aggregate({ ...exempt, readings: pools, assetClass: 'major', nowMs })).toHaveProperty('usdX18')
    })
  })
})
