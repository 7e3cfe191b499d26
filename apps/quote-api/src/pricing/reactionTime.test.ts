// Goal: time estimates follow what fills took, never fall below what the chains themselves take, and are not
// moved by a few fills that hung.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { testRegistry } from '../../test/fixtures/market.ts'
import { learnedReactionMs, reactionSamplesMin } from '../requests/accuracy/reactionTimes.ts'
import { pinWaitMs, timeEstimateSeconds } from './timeEstimate.ts'

const times = fc.array(fc.integer({ min: 0, max: 3_600_000 }), {
  minLength: reactionSamplesMin,
  maxLength: 200,
})

describe('what is learned from fills', () => {
  test('is nothing before there are enough of them', () => {
    expect(learnedReactionMs([])).toBeUndefined()
    expect(learnedReactionMs(Array(reactionSamplesMin - 1).fill(5_000))).toBeUndefined()
    expect(learnedReactionMs(Array(reactionSamplesMin).fill(5_000))).toBe(5_000)
  })

  test('is the time within which three of four fills came', () => {
    fc.assert(
      fc.property(times, (reactionsMs) => {
        const learned = learnedReactionMs(reactionsMs) ?? Number.NaN
        const within = reactionsMs.filter((time) => time <= learned).length
        const below = reactionsMs.filter((time) => time < learned).length
        expect(within).toBeGreaterThanOrEqual(0.75 * reactionsMs.length)
        expect(below).toBeLessThan(0.75 * reactionsMs.length)
        expect(reactionsMs).toContain(learned)
      }),
    )
  })

  test('does not depend on their order', () => {
    fc.assert(
      fc.property(times, (reactionsMs) => {
        expect(learnedReactionMs(reactionsMs.toReversed())).toBe(learnedReactionMs(reactionsMs))
      }),
    )
  })

  test('grows with every one of them, never shrinks', () => {
    fc.assert(
      fc.property(times, fc.nat(), fc.nat(3_600_000), (reactionsMs, place, more) => {
        const slower = reactionsMs.map((time, index) =>
          index === place % reactionsMs.length ? time + more : time,
        )
        expect(learnedReactionMs(slower)).toBeGreaterThanOrEqual(learnedReactionMs(reactionsMs) ?? 0)
      }),
    )
  })

  test('is not moved by a quarter of them that hangs for hours', () => {
    const usual = Array<number>(75).fill(2_000)
    expect(learnedReactionMs([...usual, ...Array<number>(25).fill(10_000_000)])).toBe(2_000)
  })
})

describe('a time estimate', () => {
  const [origin, destination] = testRegistry({}).chains
  if (origin === undefined || destination === undefined) throw new Error('two chains are configured')
  const estimate = (valueMicroUsd: bigint, reactionMs: number | undefined) =>
    timeEstimateSeconds({
      origin,
      destination,
      selfExecuted: false,
      valueMicroUsd,
      reactionMs,
      isSwept: false,
    })

  test('Q-157: is never below depth and blocks, and follows what was learned', () => {
    fc.assert(
      fc.property(fc.bigInt(0n, 10n ** 12n), fc.nat(3_600_000), (valueMicroUsd, reactionMs) => {
        const { blockTimeMs } = origin.config
        const chainsMs = blockTimeMs + pinWaitMs(origin, valueMicroUsd) + destination.config.blockTimeMs
        const seconds = estimate(valueMicroUsd, reactionMs)
        expect(seconds * 1_000).toBeGreaterThanOrEqual(chainsMs + reactionMs)
        expect(seconds * 1_000).toBeLessThan(chainsMs + reactionMs + 1_000 + 1)
        expect(seconds).toBeGreaterThanOrEqual(1)
      }),
    )
  })

  const ofBlocks = (blockTimeMs: number) => ({ config: { ...origin.config, blockTimeMs } })
  const small = { valueMicroUsd: 1n, reactionMs: 0, selfExecuted: false, isSwept: false }

  test.each([
    ['a block, one of depth, the reaction and a block', { reactionMs: 500 }, 2_000, 3_000, 8],
    ['more for the depth of a large amount', { valueMicroUsd: 10n ** 12n }, 2_000, 3_000, 13],
    ['a deposit and its sweep', { isSwept: true }, 2_000, 3_000, 11],
    ['one block of what the user sends', { selfExecuted: true, reactionMs: 9_000 }, 2_100, 3_000, 3],
    ['a second of what the user sends at least', { selfExecuted: true }, 0, 0, 1],
    ['a second at least', {}, 0, 0, 1],
  ])('is %s', (_what, change, originMs, destinationMs, seconds) => {
    const chains = { origin: ofBlocks(originMs), destination: ofBlocks(destinationMs) }
    expect(timeEstimateSeconds({ ...small, ...chains, ...change })).toBe(seconds)
  })

  test('is the configured one before anything was learned', () => {
    expect(estimate(1_000_000n, undefined)).toBe(estimate(1_000_000n, 1_000))
  })
})
