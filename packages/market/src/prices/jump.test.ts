// Goal: a jump needs a witness. Method: sample sequences made by hand.
import { describe, expect, test } from 'vitest'
import type { UsdPrice } from '../snapshot.ts'
import type { SecondSourceState } from './aggregate.ts'
import { oneUsdX18 } from './guards.ts'
import { type JumpState, settleJump } from './jump.ts'
import type { FreshReading } from './source.ts'

const startMs = 1_800_000_000_000
const holdMaxMs = 60_000
const exempt: SecondSourceState = { hostsOf: new Map(), secondSource: 'exempt' }
/** The first two sources have hosts of their own, the third shares that of the first. */
const hostsOf = new Map([
  ['s0', new Set(['a.example'])],
  ['s1', new Set(['b.example'])],
  ['s2', new Set(['a.example'])],
])

type Step = {
  /** Milliseconds since the start. */
  readonly at: number
  /** Values of the fresh sources, the first one the candidate. */
  readonly sources: readonly number[]
  readonly readAt?: number
}

/** Runs a sequence of samples with a limit of 3 % and returns what was published at each step. */
function publishedBy(steps: readonly Step[], standing: SecondSourceState = exempt): (number | string)[] {
  let state: JumpState = {}
  return steps.map(({ at, sources, readAt = at }) => {
    const readings = sources.map((value, index) => source(value, index, startMs + readAt))
    const verdict = settleJump({
      ...standing,
      state,
      candidate: price(sources[0] ?? 0),
      readings,
      jumpBps: 300n,
      holdMaxMs,
      nowMs: startMs + at,
    })
    state = verdict.state
    return 'reason' in verdict.price ? verdict.price.reason : Number(verdict.price.usdX18 / oneUsdX18)
  })
}

function price(value: number): UsdPrice {
  return { usdX18: BigInt(value) * oneUsdX18, updatedAtMs: startMs, confidence: 'fresh', spreadBps: 0n }
}

function source(value: number, index: number, readAtMs: number): FreshReading {
  const result = { usdX18: BigInt(value) * oneUsdX18, updatedAtMs: startMs, freshUntilMs: startMs + 10 ** 9 }
  return { source: `s${index}`, kind: index === 0 ? 'feed' : 'http', readAtMs, result }
}

describe('settleJump', () => {
  test('publishes the first price and every step within the limit at once', () => {
    expect(
      publishedBy([
        { at: 0, sources: [1_000] },
        { at: 1_000, sources: [1_030] },
        { at: 2_000, sources: [1_060] },
      ]),
    ).toEqual([1_000, 1_030, 1_060])
  })

  test('holds a jump of one source back until a later reading repeats it', () => {
    expect(
      publishedBy([
        { at: 0, sources: [1_000] },
        { at: 1_000, sources: [1_031] },
        { at: 2_000, sources: [1_040] },
        { at: 3_000, sources: [1_041] },
      ]),
    ).toEqual([1_000, 1_000, 1_040, 1_041])
  })

  test('does not take the same reading for a second sample', () => {
    expect(
      publishedBy([
        { at: 0, sources: [1_000] },
        { at: 1_000, sources: [2_000] },
        { at: 1_500, readAt: 1_000, sources: [2_000] },
        { at: 1_600, readAt: 1_000, sources: [2_000] },
        { at: 2_000, sources: [2_000] },
      ]),
    ).toEqual([1_000, 1_000, 1_000, 1_000, 2_000])
  })

  test('publishes a jump at once when a second source moved along', () => {
    expect(
      publishedBy([
        { at: 0, sources: [1_000, 1_001] },
        { at: 1_000, sources: [500, 502] },
      ]),
    ).toEqual([1_000, 500])
  })

  test('a second source that stayed near the old value is no witness', () => {
    expect(
      publishedBy([
        { at: 0, sources: [1_000, 1_000] },
        { at: 1_000, sources: [1_040, 1_015] },
        { at: 2_000, sources: [1_040, 1_015] },
      ]),
    ).toEqual([1_000, 1_000, 1_040])
  })

  test('a second source halfway between both values is no witness', () => {
    expect(
      publishedBy([
        { at: 0, sources: [1_000, 1_000] },
        { at: 1_000, sources: [1_040, 1_020] },
      ]),
    ).toEqual([1_000, 1_000])
  })

  test('takes a later jump for the same one up to the limit, and not beyond', () => {
    const before = [
      { at: 0, sources: [1_000] },
      { at: 1_000, sources: [2_000] },
    ]
    expect(publishedBy([...before, { at: 2_000, sources: [2_060] }])).toEqual([1_000, 1_000, 2_060])
    expect(publishedBy([...before, { at: 2_000, sources: [2_061] }])).toEqual([1_000, 1_000, 1_000])
  })

  test('forgets a spike that went away', () => {
    expect(
      publishedBy([
        { at: 0, sources: [1_000] },
        { at: 1_000, sources: [5_000] },
        { at: 2_000, sources: [1_001] },
        { at: 3_000, sources: [5_000] },
        { at: 4_000, sources: [1_002] },
      ]),
    ).toEqual([1_000, 1_000, 1_001, 1_001, 1_002])
  })

  test('two different jumps do not confirm each other', () => {
    expect(
      publishedBy([
        { at: 0, sources: [1_000] },
        { at: 1_000, sources: [2_000] },
        { at: 2_000, sources: [4_000] },
        { at: 3_000, sources: [500] },
        { at: 4_000, sources: [505] },
      ]),
    ).toEqual([1_000, 1_000, 1_000, 1_000, 505])
  })

  test('refuses while unconfirmed once the previous price is past its hard age', () => {
    const wild = [2_000, 4_000, 8_000]
    const steps = wild.map((value, index) => ({ at: 59_999 + index, sources: [value] }))
    expect(publishedBy([{ at: 0, sources: [1_000] }, ...steps])).toEqual([
      1_000,
      1_000,
      1_000,
      'unconfirmed_jump',
    ])
  })

  test('recovers from a long silence with the second sample', () => {
    expect(
      publishedBy([
        { at: 0, sources: [1_000] },
        { at: 3_600_000, sources: [2_000] },
        { at: 3_601_000, sources: [2_001] },
      ]),
    ).toEqual([1_000, 'unconfirmed_jump', 2_001])
  })

  describe('where a second source is asked for', () => {
    const required: SecondSourceState = { hostsOf, secondSource: 'required' }

    test('dates what is published by the last reading of a feed or service, not of a pool', () => {
      const [feed, service] = [source(1_000, 0, startMs), source(1_000, 1, startMs + 5)]
      const pool: FreshReading = { ...source(1_000, 2, startMs + 9), kind: 'pool' }
      const verdict = settleJump({
        ...required,
        state: {},
        candidate: price(1_000),
        readings: [feed, service, pool],
        jumpBps: 300n,
        holdMaxMs,
        nowMs: startMs + 9,
      })
      expect(verdict.state).toEqual({ published: { price: price(1_000), readAtMs: startMs + 5 } })
    })

    test('is confirmed at once by two sources that are reached apart', () => {
      const steps = [
        { at: 0, sources: [1_000, 1_001] },
        { at: 1_000, sources: [500, 502] },
      ]
      expect(publishedBy(steps, required)).toEqual([1_000, 500])
    })

    test('is confirmed by no repetition of one source, however long, and the old price is no offer', () => {
      const repeated = Array.from({ length: 100 }, (_, second) => ({
        at: 1_000 * second,
        sources: [1_040, 1_010],
      }))
      const seen = publishedBy([{ at: 0, sources: [1_000, 1_000] }, ...repeated], required)
      expect(new Set(seen.slice(1))).toEqual(new Set(['unconfirmed_jump']))
    })

    test('is confirmed by no second source behind the same host', () => {
      const steps = [
        { at: 0, sources: [1_000, 1_000, 1_000] },
        { at: 1_000, sources: [1_040, 1_010, 1_040] },
        { at: 2_000, sources: [1_040, 1_039, 1_040] },
      ]
      expect(publishedBy(steps, required)).toEqual([1_000, 'unconfirmed_jump', 1_040])
    })

    test('Q-172: of the only source is refused until the source is back', () => {
      const single: SecondSourceState = { hostsOf, secondSource: 'single' }
      const steps = [
        { at: 0, sources: [1_000] },
        { at: 1_000, sources: [1_040] },
        { at: 3_600_000, sources: [1_040] },
        { at: 3_601_000, sources: [1_020] },
      ]
      expect(publishedBy(steps, single)).toEqual([1_000, 'unconfirmed_jump', 'unconfirmed_jump', 1_020])
    })
  })
})
