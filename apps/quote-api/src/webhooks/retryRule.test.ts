// Goal: a message is tried eleven times, ever later, and never all at once with others.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { defaultRetryRule, retryPauseMs } from './retryRule.ts'

const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })

test('ten retries follow the first attempt, and none after that', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 50 }), random, (attempts, chance) => {
      expect(retryPauseMs(defaultRetryRule, attempts, chance) === undefined).toBe(attempts > 10)
    }),
  )
})

test('each pause is longer than the one before, whatever chance says', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 9 }), random, random, (attempts, one, other) => {
      const [now = 0, next = 0] = [
        retryPauseMs(defaultRetryRule, attempts, one),
        retryPauseMs(defaultRetryRule, attempts + 1, other),
      ]
      expect(next).toBeGreaterThan(now)
    }),
  )
})

test('L-81: the pauses double, from ten seconds to about three hours in all', () => {
  const pauses = Array.from({ length: 10 }, (_, index) => retryPauseMs(defaultRetryRule, index + 1, 0.5) ?? 0)
  expect(pauses.slice(0, 3)).toEqual([10_000, 20_000, 40_000])
  expect(pauses.reduce((sum, pause) => sum + pause, 0)).toBe(10_230_000)
})
