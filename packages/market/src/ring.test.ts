import { describe, expect, test } from 'vitest'
import { createRing } from './ring.ts'

describe('createRing', () => {
  test('keeps the last values in the order in which they came', () => {
    const ring = createRing<number>(3)
    expect(ring.newest()).toBeUndefined()
    expect(ring.oldestFirst()).toEqual([])
    for (const value of [1, 2]) ring.push(value)
    expect(ring.oldestFirst()).toEqual([1, 2])
    for (const value of [3, 4, 5]) ring.push(value)
    expect(ring.oldestFirst()).toEqual([3, 4, 5])
    expect(ring.newest()).toBe(5)
  })

  test('does not change what was read before', () => {
    const ring = createRing<number>(2)
    ring.push(1)
    const before = ring.oldestFirst()
    ring.push(2)
    ring.push(3)
    expect(before).toEqual([1])
  })

  test('refuses a capacity that holds nothing', () => {
    for (const capacity of [0, -1, 1.5]) expect(() => createRing(capacity)).toThrow(RangeError)
  })
})
