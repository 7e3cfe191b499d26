import { expect, test } from 'vitest'
import { Progress } from './exchange.ts'

const limitMs = 10_000

test('idle is never stuck, however long', () => {
  const progress = new Progress()
  expect(progress.isStuck(1e9, limitMs)).toBe(false)
  progress.begin(0)
  progress.end(10, false)
  expect(progress.isStuck(1e9, limitMs)).toBe(false)
  progress.begin(1e9)
  expect(progress.isStuck(1e9 + limitMs, limitMs)).toBe(false)
})

test('O-167: stuck when requests are in work and none ends for longer than the limit', () => {
  const progress = new Progress()
  progress.begin(0)
  for (let nowMs = 0; nowMs <= limitMs; nowMs += 100) progress.begin(nowMs)
  expect(progress.isStuck(limitMs, limitMs)).toBe(false)
  expect(progress.isStuck(limitMs + 1, limitMs)).toBe(true)
  progress.end(limitMs + 2, false)
  expect(progress.isStuck(limitMs + 3, limitMs)).toBe(false)
})

test('requests that all take the time that they have are slow, not stuck', () => {
  const progress = new Progress()
  for (let nowMs = 0; nowMs < 100_000; nowMs += 4_999) {
    progress.begin(nowMs)
    expect(progress.isStuck(nowMs + 4_999, limitMs)).toBe(false)
    progress.end(nowMs + 4_999, false)
  }
})

test('an answer by the time limit is no progress', () => {
  const progress = new Progress()
  progress.begin(0)
  for (let nowMs = 5_000; nowMs <= 15_000; nowMs += 5_000) {
    progress.begin(nowMs)
    progress.end(nowMs, true)
  }
  expect(progress.isStuck(10_001, limitMs)).toBe(true)
})

test('a caller that leaves again and again does not make a service look stuck', () => {
  const progress = new Progress()
  for (let nowMs = 0; nowMs <= 100_000; nowMs += 1_000) {
    progress.begin(nowMs)
    progress.begin(nowMs)
    progress.end(nowMs + 900, false)
    expect(progress.isStuck(nowMs + 900, limitMs)).toBe(false)
    progress.end(nowMs + 950, false)
  }
})
