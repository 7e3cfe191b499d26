// Goal: a value refreshes in the background, serves by age, and survives failing and stuck loads.
// Method: a clock that the test moves; loads are plain functions.
import { describe, expect, test } from 'vitest'
import { createManualClock } from '../test/support/manualClock.ts'
import { RefreshedValue, type RefreshOptions } from './refreshedValue.ts'

function setUp(overrides: Partial<RefreshOptions<number>> = {}) {
  const clock = createManualClock(1_000_000)
  let loads = 0
  const failures: { error: unknown; count: number }[] = []
  const refreshed = new RefreshedValue<number>({
    load: async () => ++loads,
    intervalMs: 1_000,
    timeoutMs: 400,
    softMaxAgeMs: 2_000,
    hardMaxAgeMs: 5_000,
    clock,
    random: () => 0.5,
    onFailed: (error, count) => failures.push({ error, count }),
    ...overrides,
  })
  return { clock, refreshed, failures, loadCount: () => loads }
}

describe('a refreshed value', () => {
  test('is empty before its first load and fresh after it', async () => {
    const { clock, refreshed } = setUp()
    expect(refreshed.read()).toEqual({ state: 'empty' })
    refreshed.start()
    await clock.advance(0)
    expect(refreshed.read()).toEqual({ state: 'fresh', value: 1, asOfMs: 1_000_000 })
  })

  test('refreshes at its interval and keeps the newest value', async () => {
    const { clock, refreshed } = setUp()
    refreshed.start()
    await clock.advance(4_000)
    expect(refreshed.read()).toEqual({ state: 'fresh', value: 5, asOfMs: 1_004_000 })
  })

  test('turns stale, then expired, by age alone, and a read never loads', async () => {
    const { clock, refreshed, loadCount } = setUp()
    await refreshed.refresh()
    await clock.advance(2_000)
    expect(refreshed.read()).toMatchObject({ state: 'fresh' })
    await clock.advance(1)
    expect(refreshed.read()).toMatchObject({ state: 'stale', value: 1 })
    await clock.advance(2_999)
    expect(refreshed.read()).toMatchObject({ state: 'stale' })
    await clock.advance(1)
    expect(refreshed.read()).toEqual({ state: 'expired', asOfMs: 1_000_000 })
    expect(loadCount()).toBe(1)
  })

  test('shares one load between everybody who asks while it runs', async () => {
    let finish: (value: number) => void = () => {}
    let started = 0
    const { refreshed } = setUp({
      load: () => {
        started += 1
        return new Promise((resolve) => {
          finish = resolve
        })
      },
    })
    const both = [refreshed.refresh(), refreshed.refresh()]
    finish(7)
    expect(await Promise.all(both)).toEqual([true, true])
    expect(started).toBe(1)
    expect(refreshed.read()).toMatchObject({ value: 7 })
  })

  test('spreads its interval by ten percent either way', async () => {
    for (const [random, dueMs] of [
      [0, 900],
      [0.999_999, 1_100],
    ] as const) {
      const { clock, refreshed, loadCount } = setUp({ random: () => random })
      refreshed.start()
      await clock.advance(dueMs - 1)
      expect(loadCount()).toBe(1)
      await clock.advance(2)
      expect(loadCount()).toBe(2)
    }
  })

  test('keeps the last value when a load fails, counts failures, and recovers', async () => {
    let broken = false
    const { clock, refreshed, failures } = setUp({
      load: async () => {
        if (broken) throw new Error('no')
        return 1
      },
    })
    refreshed.start()
    await clock.advance(0)
    broken = true
    await clock.advance(2_500)
    expect(refreshed.read()).toMatchObject({ state: 'stale', value: 1 })
    expect(refreshed.consecutiveFailures()).toBe(2)
    expect(failures.map(({ count }) => count)).toEqual([1, 2])
    broken = false
    await clock.advance(1_000)
    expect(refreshed.read()).toMatchObject({ state: 'fresh' })
    expect(refreshed.consecutiveFailures()).toBe(0)
  })

  test('gives a load that ignores its signal up at the time limit and drops its late answer', async () => {
    const finish: ((value: number) => void)[] = []
    const signals: AbortSignal[] = []
    const { clock, refreshed, failures } = setUp({
      load: (signal) => {
        signals.push(signal)
        return new Promise((resolve) => finish.push(resolve))
      },
    })
    refreshed.start()
    await clock.advance(400)
    expect(failures[0]?.error).toMatchObject({ code: 'REQUEST_TIMED_OUT' })
    expect(signals[0]?.aborted).toBe(true)
    await clock.advance(600)
    expect(finish).toHaveLength(2)
    finish[0]?.(1)
    await clock.advance(0)
    expect(refreshed.read()).toEqual({ state: 'empty' })
    finish[1]?.(2)
    await clock.advance(0)
    expect(refreshed.read()).toMatchObject({ value: 2 })
  })

  test('backs off while failing when it is told to', async () => {
    const startedAt: number[] = []
    const { clock, refreshed } = setUp({
      backoffMaxMs: 4_000,
      load: async () => {
        startedAt.push(clock.now() - 1_000_000)
        throw new Error('429')
      },
    })
    refreshed.start()
    await clock.advance(15_000)
    expect(startedAt).toEqual([0, 2_000, 6_000, 10_000, 14_000])
  })

  test('loads again after a quarter of its interval while that is urgent', async () => {
    let urgent = true
    const { clock, refreshed, loadCount } = setUp({ isUrgent: () => urgent })
    refreshed.start()
    await clock.advance(500)
    expect(loadCount()).toBe(3)
    urgent = false
    await clock.advance(1_249)
    expect(loadCount()).toBe(4)
    await clock.advance(1)
    expect(loadCount()).toBe(5)
  })

  test('told of something new, it loads at once, though not back to back', async () => {
    const { clock, refreshed, loadCount } = setUp()
    refreshed.start()
    await clock.advance(400)
    refreshed.hasten()
    await clock.advance(0)
    expect(loadCount()).toBe(2)
    // 700 times within a moment: once, a quarter of the interval later.
    for (let time = 0; time < 700; time += 1) refreshed.hasten()
    await clock.advance(249)
    expect(loadCount()).toBe(2)
    await clock.advance(1)
    expect(loadCount()).toBe(3)
    await clock.advance(999)
    expect(loadCount()).toBe(3)
    await clock.advance(1)
    expect(loadCount()).toBe(4)
  })

  test('told of something new while it loads, it loads soon again', async () => {
    const ends: (() => void)[] = []
    const { clock, refreshed } = setUp({ load: () => new Promise((resolve) => ends.push(() => resolve(1))) })
    refreshed.start()
    await clock.advance(100)
    refreshed.hasten()
    ends[0]?.()
    await clock.advance(150)
    expect(ends).toHaveLength(2)
  })

  test('told of something new before its start or after its end, it stays as it is', async () => {
    const { clock, refreshed, loadCount } = setUp()
    refreshed.hasten()
    await clock.advance(5_000)
    expect(loadCount()).toBe(0)
    refreshed.start()
    refreshed.close()
    refreshed.hasten()
    await clock.advance(5_000)
    expect(loadCount()).toBe(1)
  })

  test('takes the time of a slow load out of the pause after it', async () => {
    const startedAt: number[] = []
    const { clock, refreshed } = setUp({
      load: (_signal) => {
        startedAt.push(clock.now() - 1_000_000)
        return new Promise((resolve) => clock.after(300, () => resolve(1)))
      },
    })
    refreshed.start()
    await clock.advance(2_300)
    expect(startedAt).toEqual([0, 1_000, 2_000])
  })

  test('a clock that is set back or ahead delays no load, hastened or not', async () => {
    const { clock, refreshed, loadCount } = setUp()
    refreshed.start()
    await clock.advance(0)
    clock.step(-240_000)
    refreshed.hasten()
    await clock.advance(250)
    expect(loadCount()).toBe(2)
    await clock.advance(1_000)
    expect(loadCount()).toBe(3)
    clock.step(240_000)
    await clock.advance(1_000)
    expect(loadCount()).toBe(4)
  })

  test('close stops the timer, aborts the load under way and leaves nothing scheduled', async () => {
    let aborted = false
    const { clock, refreshed, failures, loadCount } = setUp({
      load: (signal) =>
        new Promise((_resolve, reject) =>
          signal.addEventListener('abort', () => {
            aborted = true
            reject(signal.reason)
          }),
        ),
    })
    refreshed.start()
    await clock.advance(100)
    refreshed.close()
    await clock.advance(60_000)
    expect(aborted).toBe(true)
    expect(failures).toEqual([])
    expect(clock.pendingTasks()).toBe(0)
    expect(await refreshed.refresh()).toBe(false)
    refreshed.start()
    await clock.advance(5_000)
    expect(loadCount()).toBe(0)
  })
})
