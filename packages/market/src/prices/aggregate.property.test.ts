// Goal: what holds for any set of sources. Method: generated readings of every kind and age.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { aggregate } from './aggregate.ts'
import { isWitness } from './secondSource.ts'
import { isFresh, type SourceReading, type SourceValue } from './source.ts'

const nowMs = 1_800_000_000_000
const assetClass = fc.constantFrom('stable', 'major', 'longtail')

/** Near one base value, so that most sets pass the limits and some do not. */
const value = fc
  .tuple(fc.constantFrom(1n, 997n, 10n ** 18n, 2_000n * 10n ** 18n), fc.integer({ min: 9_000, max: 11_000 }))
  .map(([base, tenThousandths]) => (base * BigInt(tenThousandths)) / 10_000n + 1n)
const closeValues = fc
  .integer({ min: 0, max: 400 })
  .chain((width) =>
    fc.array(fc.integer({ min: 10_000 - width, max: 10_000 }), { minLength: 1, maxLength: 6 }),
  )
  .map((parts) => parts.map((part) => BigInt(part) * 10n ** 14n))

function asReading(usdX18: bigint, index: number, ageMs: number): SourceReading {
  const kind = (['feed', 'pool', 'http', 'signed'] as const)[index % 4] ?? 'feed'
  const result: SourceValue = { usdX18, updatedAtMs: nowMs - ageMs, freshUntilMs: nowMs - ageMs + 30_000 }
  return { source: `${kind} ${index}`, kind, readAtMs: nowMs, result }
}

const readings = fc.oneof(
  fc
    .array(fc.tuple(value, fc.integer({ min: 0, max: 60_000 })), { maxLength: 6 })
    .map((pairs) => pairs.map(([usdX18, ageMs], index) => asReading(usdX18, index, ageMs))),
  closeValues.map((values) => values.map((usdX18, index) => asReading(usdX18, index, 100))),
)

const standing = { hostsOf: new Map(), secondSource: 'exempt' } as const

describe('aggregate, for any sources', () => {
  test('a price lies between the lowest and the highest fresh feed or service', () => {
    let [tried, priced] = [0, 0]
    fc.assert(
      fc.property(readings, assetClass, (sources, cls) => {
        tried += 1
        const price = aggregate({ ...standing, readings: sources, assetClass: cls, nowMs })
        if (!('usdX18' in price)) return
        priced += 1
        const fresh = sources
          .filter((source) => isFresh(source, nowMs))
          .filter(isWitness)
          .map(({ result }) => result.usdX18)
        expect(fresh.every((candidate) => price.usdX18 < candidate)).toBe(false)
        expect(fresh.every((candidate) => price.usdX18 > candidate)).toBe(false)
      }),
      { numRuns: 1_000 },
    )
    expect(priced).toBeGreaterThan(tried / 10)
  })

  test('Q-173: services beside fresh feeds or signed prices move no value', () => {
    let [tried, priced] = [0, 0]
    fc.assert(
      fc.property(readings, assetClass, (sources, cls) => {
        const others = sources.filter(({ kind }) => kind !== 'http')
        fc.pre(others.some((source) => isFresh(source, nowMs) && isWitness(source)))
        tried += 1
        const price = aggregate({ ...standing, readings: sources, assetClass: cls, nowMs })
        const without = aggregate({ ...standing, readings: others, assetClass: cls, nowMs })
        if (!('usdX18' in price && 'usdX18' in without)) return
        priced += 1
        expect(price.usdX18).toBe(without.usdX18)
      }),
      { numRuns: 1_000 },
    )
    expect(priced).toBeGreaterThan(tried / 10)
  })

  test('the order of the sources is irrelevant', () => {
    fc.assert(
      fc.property(
        readings.chain((sources) =>
          fc.tuple(
            fc.constant(sources),
            fc.shuffledSubarray(sources, { minLength: sources.length, maxLength: sources.length }),
          ),
        ),
        assetClass,
        ([sources, shuffled], cls) => {
          expect(aggregate({ ...standing, readings: shuffled, assetClass: cls, nowMs })).toEqual(
            aggregate({ ...standing, readings: sources, assetClass: cls, nowMs }),
          )
        },
      ),
      { numRuns: 1_000 },
    )
  })

  test('sources that are not fresh never change a price', () => {
    fc.assert(
      fc.property(readings, value, assetClass, (sources, oldUsdX18, cls) => {
        const fresh = sources.filter((source) => isFresh(source, nowMs))
        fc.pre(fresh.some(isWitness))
        const old = asReading(oldUsdX18, 9, 30_001)
        const broken: SourceReading = { ...old, source: 'broken', result: { fault: 'no_answer' } }
        expect(aggregate({ ...standing, readings: [...fresh, old, broken], assetClass: cls, nowMs })).toEqual(
          aggregate({ ...standing, readings: fresh, assetClass: cls, nowMs }),
        )
      }),
      { numRuns: 1_000 },
    )
  })
})
