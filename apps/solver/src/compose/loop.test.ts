// Goal: a round begins when something is told of, and never more often than its pause allows. Attackers: an endpoint or a
// service that tells of something without end, so that rounds run back to back or the clock's own round never comes.
import { setTimeout as pause } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import type { RoundSignal } from '../filling/solverRound.ts'
import { createRoundSignals, startLoop } from './loop.ts'

function start({ everyMs = 60_000, roundMs = 0 } = {}) {
  const waker = createRoundSignals()
  const rounds: (RoundSignal | undefined)[] = []
  const failures: unknown[] = []
  const state = { isBroken: false }
  const loop = startLoop({
    everyMs,
    waker,
    async run(told) {
      rounds.push(told)
      await pause(roundMs)
      if (state.isBroken) throw new Error('a round failed')
    },
    onFailure: (error) => failures.push(error),
  })
  onTestFinished(() => loop.stop())
  return { waker, rounds, failures, state, loop }
}

test('the first round is by the clock, and what is told begins another one at once', async () => {
  const { waker, rounds } = start()
  await expect.poll(() => rounds.length).toBe(1)
  await pause(200)
  waker.work()
  await expect.poll(() => rounds.length, { interval: 5, timeout: 200 }).toBe(2)
  await pause(200)
  waker.block(10)
  await expect.poll(() => rounds.length, { interval: 5, timeout: 200 }).toBe(3)
  expect(rounds).toEqual([
    undefined,
    { chainIds: new Set(), hasWork: true },
    { chainIds: new Set([10]), hasWork: false },
  ])
  await pause(300)
  expect(rounds).toHaveLength(3)
})

test('what is told during a round is looked at after it, in one round', async () => {
  const { waker, rounds } = start({ roundMs: 300 })
  await expect.poll(() => rounds.length).toBe(1)
  for (let each = 0; each < 100; each += 1) {
    waker.block(1)
    waker.block(2)
    waker.work()
  }
  await expect.poll(() => rounds.length, { timeout: 2_000 }).toBe(2)
  expect(rounds[1]).toEqual({ chainIds: new Set([1, 2]), hasWork: true })
  await pause(700)
  expect(rounds).toHaveLength(2)
})

test('Q-229: a flood makes one round per pause, and keeps none of the clock from coming', async () => {
  const { waker, rounds } = start({ everyMs: 300 })
  const untilMs = performance.now() + 1_500
  while (performance.now() < untilMs) {
    for (let each = 0; each < 1_000; each += 1) waker.block(each)
    await pause(1)
  }
  expect(rounds.length).toBeLessThanOrEqual(31)
  expect(rounds.filter((told) => told === undefined).length).toBeGreaterThanOrEqual(3)
})

test('a round that fails is told of, and the next one comes', async () => {
  const { waker, rounds, failures, state } = start()
  await expect.poll(() => rounds.length).toBe(1)
  state.isBroken = true
  waker.work()
  await expect.poll(() => failures.length).toBe(1)
  waker.work()
  await expect.poll(() => failures.length).toBe(2)
})

test('nothing begins after the stop', async () => {
  const { waker, rounds, loop } = start()
  await expect.poll(() => rounds.length).toBe(1)
  await loop.stop()
  waker.work()
  await pause(200)
  expect(rounds).toHaveLength(1)
})
