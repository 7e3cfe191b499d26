// Goal: seconds since this process saw a block are never more than they are, whatever a chain does with its heads.
import { expect, test } from 'vitest'
import { createHeadSights } from './headSights.ts'

function opened() {
  let nowMs = 0
  const heads = createHeadSights(() => nowMs)
  return {
    heads,
    at(seconds: number, height: bigint) {
      nowMs = seconds * 1_000
      heads.note(8_453, height)
    },
    since: (height: bigint) => heads.secondsSince(8_453, height),
  }
}

test('F-101: a block is as old as the first head that reached it', () => {
  const { at, since } = opened()
  at(0, 100n)
  at(2, 110n)
  at(5, 120n)
  expect([100n, 101n, 110n, 111n, 120n, 121n].map(since)).toEqual([5, 3, 3, 0, 0, 0])
})

test('F-101: what was there before the start counts from the start', () => {
  const { at, since } = opened()
  expect(since(1n)).toBe(0)
  at(10, 100n)
  at(14, 100n)
  expect(since(1n)).toBe(4)
})

test('F-101: a jump of thousands of blocks makes none of them old', () => {
  const { at, since } = opened()
  at(0, 100n)
  at(60, 9_100n)
  expect([101n, 9_100n].map(since)).toEqual([0, 0])
})

test('F-101: a chain that became shorter makes its blocks anew', () => {
  const { at, since } = opened()
  at(0, 100n)
  at(1, 110n)
  at(9, 105n)
  expect(since(104n)).toBe(0)
  at(12, 111n)
  expect([100n, 105n, 106n].map(since)).toEqual([12, 3, 0])
})

test('F-101: however long it runs, what is kept is bounded and nothing becomes older by it', () => {
  const { at, since } = opened()
  for (let second = 0; second < 10_000; second += 1) at(second, BigInt(second))
  expect(since(0n)).toBeLessThan(4_096)
  expect(since(9_990n)).toBe(9)
})
