import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { FixedWindows } from './fixedWindows.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'], now: 1_800_000_000_000 })
})
afterEach(() => {
  vi.useRealTimers()
})

function count(windows: FixedWindows, caller: string): number {
  let seen = 0
  const keep = (_error: unknown, state: { current: number }) => {
    seen = state.current
  }
  windows.incr(caller, keep, 1_000)
  return seen
}

test('what a caller was told does not change with later requests', () => {
  const windows = new FixedWindows()
  const told: { current: number }[] = []
  for (let index = 0; index < 3; index += 1) windows.incr('a', (_error, state) => told.push(state), 1_000)
  expect(told.map(({ current }) => current)).toEqual([1, 2, 3])
})

test('a window starts with the first request and ends exactly after its length', () => {
  const windows = new FixedWindows()
  expect([count(windows, 'a'), count(windows, 'a')]).toEqual([1, 2])
  vi.advanceTimersByTime(999)
  expect(count(windows, 'a')).toBe(3)
  vi.advanceTimersByTime(1)
  expect(count(windows, 'a')).toBe(1)
})

test('reading counts nothing and sees no window that has ended', () => {
  const windows = new FixedWindows()
  const read = () => {
    let seen: { current: number; ttl: number } | undefined
    const keep = (_error: unknown, state: { current: number; ttl: number }) => {
      seen = state
    }
    windows.read('a', keep, 1_000)
    return seen
  }
  expect(read()).toEqual({ current: 0, ttl: 0 })
  count(windows, 'a')
  vi.advanceTimersByTime(400)
  expect([read(), read()]).toEqual([
    { current: 1, ttl: 600 },
    { current: 1, ttl: 600 },
  ])
  vi.advanceTimersByTime(600)
  expect(read()).toEqual({ current: 0, ttl: 0 })
})

test('a flood of addresses forgets the oldest callers only past 100,000', () => {
  const windows = new FixedWindows()
  count(windows, 'first')
  for (let index = 1; index < 100_000; index += 1) count(windows, `flood ${index}`)
  expect(count(windows, 'first')).toBe(2)
  count(windows, 'one more')
  expect(count(windows, 'flood 1')).toBe(2)
  expect(count(windows, 'first')).toBe(1)
})
