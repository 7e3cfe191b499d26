import fc from 'fast-check'
import { expect, test } from 'vitest'
import { addressesPerPass, lanes, lanesInOrder, shareOut } from './addressLanes.ts'

const sum = (counts: readonly number[]) => counts.reduce((total, count) => total + count, 0)

test('Q-212: a flood without payment takes no place of what was paid, keyed or named', () => {
  const places = shareOut([5, 40, 10, 8_000, 1_000_000])
  expect(places.slice(0, 3)).toEqual([5, 40, 10])
  expect(sum(places)).toBe(addressesPerPass)
})

test('a pass that nobody else needs is the old ones’', () => {
  expect(shareOut([0, 0, 0, 0, 9_000])[lanes.idle]).toBe(addressesPerPass)
})

test('no lane starves another, and no place is lost', () => {
  const counts = fc.array(fc.nat({ max: 1_000 }), { minLength: 5, maxLength: 5 })
  fc.assert(
    fc.property(counts, (due) => {
      const places = shareOut(due)
      expect(sum(places)).toBe(Math.min(sum(due), addressesPerPass))
      for (const lane of lanesInOrder) {
        expect(places[lane]).toBeLessThanOrEqual(due[lane] ?? 0)
        if ((due[lane] ?? 0) > 0) expect(places[lane]).toBeGreaterThan(0)
      }
    }),
  )
})
