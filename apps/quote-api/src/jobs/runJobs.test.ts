import { expect, test } from 'vitest'
import { createWaker, type Job, runJobs } from './runJobs.ts'

const fence = async () => {}

/** A job that this process leads, with pauses that no test outlives. */
function started(job: Pick<Job, 'run' | 'waker'>) {
  return runJobs({
    jobs: [{ name: 'rare', intervalMs: 600_000, ...job }],
    elections: { leadershipOf: () => ({ epoch: 1n, fence }), close: async () => {} },
    now: () => 1_234,
    onFailure: () => {},
  })
}

test('closing ends a pause', async () => {
  const jobs = started({ run: async () => {} })
  await expect.poll(() => jobs.health()[0]?.runs).toBe(1)
  await jobs.close()
  expect(jobs.health()[0]?.runs).toBe(1)
})

test('closing during a run leaves no pause behind it', async () => {
  let isRunning = false
  const jobs = started({
    run: ({ signal }) =>
      new Promise((resolve) => {
        isRunning = true
        signal.addEventListener('abort', () => resolve())
      }),
  })
  await expect.poll(() => isRunning).toBe(true)
  await jobs.close()
})

test('a wake ends a pause', async () => {
  const waker = createWaker()
  const jobs = started({ waker, run: async () => {} })
  await expect.poll(() => jobs.health()[0]?.runs).toBe(1)
  waker.wake()
  await expect.poll(() => jobs.health()[0]?.runs).toBe(2)
  await jobs.close()
})
