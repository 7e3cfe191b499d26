// Goal: every process counts by the database's time. Adversary: a host's clock that is wrong at the start, or is set while
// the process runs, and a database that answers late.
import { expect, test } from 'vitest'
import { DatabaseClock } from './databaseClock.ts'

const origin = 1_800_000_000_000

function bed(startOffsetMs = 0) {
  let passedMs = 0
  let stepMs = 0
  const clock = new DatabaseClock({
    host: () => origin + passedMs + startOffsetMs + stepMs,
    steady: () => origin + passedMs + startOffsetMs,
  })
  return {
    clock,
    pass(ms: number) {
      passedMs += ms
    },
    step(ms: number) {
      stepMs += ms
    },
    database: () => origin + passedMs,
    measure: (roundMs = 0) =>
      clock.measure(async () => {
        passedMs += roundMs
        const clockMs = origin + passedMs
        passedMs += roundMs
        return { clockMs }
      }),
  }
}

test.each([240_000, -86_400_000])(
  'O-66: a host clock that is set by %i ms moves no time, before or after it is seen to be off',
  async (stepMs) => {
    const { clock, database, measure, step, pass } = bed()
    await measure()
    step(stepMs)
    expect(clock.now()).toBe(database())
    expect(clock.hostOffsetMs()).toBe(0)
    pass(500)
    await measure()
    expect(clock.now()).toBe(database())
    expect(clock.hostOffsetMs()).toBe(stepMs)
    step(-stepMs)
    expect(clock.now()).toBe(database())
  },
)

test('a host clock that is wrong at the start is corrected by the first answer', async () => {
  const { clock, database, measure } = bed(-7_200_000)
  expect(clock.now()).toBe(database() - 7_200_000)
  await measure()
  expect(clock.now()).toBe(database())
  expect(clock.hostOffsetMs()).toBe(-7_200_000)
})

test('an offset within the time of an answer counts as none, and a larger one as what is sure', async () => {
  const late = bed(900)
  await late.measure(1_000)
  expect(late.clock.hostOffsetMs()).toBe(0)
  const ahead = bed(6_000)
  await ahead.measure(1_000)
  expect(ahead.clock.hostOffsetMs()).toBe(5_000)
  expect(ahead.clock.now()).toBe(ahead.database() + 1_000)
})

test('a failed question changes nothing', async () => {
  const { clock, measure, database } = bed(3_000)
  await measure()
  await expect(clock.measure(() => Promise.reject(new Error('gone')))).rejects.toThrow('gone')
  expect(clock.now()).toBe(database())
})
