// Goal: a soak's figures say what callers felt: a stall is not hidden by requests that were never sent, a slow window is
// not forgiven, and memory of another process is not compared.
import { expect, test } from 'vitest'
import { memoryFigures, percentile, recoveries, type Sample, usualP99Ms } from './figures.ts'

const fault = { name: 'a kill', beganMs: 20_000, endedMs: 25_000 }

/** Ten requests a second of 10 ms, but for those that `felt` says otherwise of. */
function load(felt: (dueMs: number) => Partial<Sample> | undefined): readonly Sample[] {
  return Array.from({ length: 800 }, (_, index) => {
    const dueMs = index * 100
    return { kind: 'GET /chains', dueMs, latencyMs: 10, isGood: true, ...felt(dueMs) }
  })
}

test('a service that is back at once has recovered at once', () => {
  const [recovery] = recoveries(
    load((dueMs) => (dueMs >= 20_000 && dueMs < 25_000 ? { isGood: false } : undefined)),
    [fault],
  )
  expect(recovery).toEqual({ fault: 'a kill', lastedMs: 5_000, failed: 50, backAfterMs: 0 })
})

test('slow answers after a fault put its end off, and one failed request does too', () => {
  const slow = load((dueMs) => (dueMs >= 25_000 && dueMs < 32_000 ? { latencyMs: 2_000 } : undefined))
  expect(recoveries(slow, [fault])[0]?.backAfterMs).toBe(7_000)
  const failing = load((dueMs) => (dueMs === 40_000 ? { isGood: false } : undefined))
  expect(recoveries(failing, [{ ...fault, endedMs: 39_500 }])[0]?.backAfterMs).toBe(1_000)
})

test('what stays slow until the next fault never came back', () => {
  const slow = load((dueMs) => (dueMs >= 25_000 ? { latencyMs: 2_000 } : undefined))
  const next = { name: 'another', beganMs: 60_000, endedMs: 61_000 }
  expect(recoveries(slow, [fault, next]).map(({ backAfterMs }) => backAfterMs)).toEqual([
    undefined,
    undefined,
  ])
})

test('the usual p99 is of the time before the first fault, and one slow window does not make it', () => {
  const samples = load((dueMs) => (dueMs > 19_000 ? { latencyMs: 5_000 } : undefined))
  expect(usualP99Ms(samples, [fault])).toBe(10)
})

test('a percentile is a value that was seen', () => {
  expect([percentile([3, 1, 2], 0.5), percentile([3, 1, 2], 0.99), percentile([], 0.5)]).toEqual([
    2,
    3,
    Number.NaN,
  ])
})

test('memory is compared within the life of the last process, once it is warm', () => {
  const of = (pid: number, atMs: number, residentMiB: number) => ({
    process: 'oracle-1',
    pid,
    atMs,
    residentMiB,
  })
  const samples = [
    of(1, 0, 500),
    of(1, 10, 500),
    of(2, 20, 90),
    ...[30, 40, 50].map((at) => of(2, at, 100 + at)),
  ]
  expect(memoryFigures(samples, 10)).toEqual([{ process: 'oracle-1', earlyMiB: 130, lateMiB: 150 }])
})
