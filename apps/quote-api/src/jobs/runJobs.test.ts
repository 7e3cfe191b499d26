import { expect, test } from 'vitest'
import { createWakeSignal, type Job, type OnFailure, runJobs } from './runJobs.ts'

const fence = async () => {}

/** A job that this process leads, with pauses that no test outlives. */
function started(job: Pick<Job, 'run'> & Partial<Job>, onFailure: OnFailure = () => {}, now = () => 1_234) {
  return runJobs({
    jobs: [{ name: 'rare', intervalMs: 600_000, ...job }],
    elections: { leadershipOf: () => ({ epoch: 1n, fence }), close: async () => {} },
    now,
    onFailure,
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
  const waker = createWakeSignal()
  const jobs = started({ waker, pauseMinMs: 0, run: async () => {} })
  await expect.poll(() => jobs.health()[0]?.runs).toBe(1)
  waker.wake()
  await expect.poll(() => jobs.health()[0]?.runs).toBe(2)
  await jobs.close()
})

test('O-170: a wake during a run is not forgotten: what it is about may have come after the run looked', async () => {
  const waker = createWakeSignal()
  let runs = 0
  const jobs = started({
    waker,
    pauseMinMs: 0,
    run: async () => {
      runs += 1
      if (runs === 2) waker.wake()
    },
  })
  await expect.poll(() => runs).toBe(1)
  waker.wake()
  await expect.poll(() => runs).toBe(3)
  await jobs.close()
})

test('O-170: however often a job is woken, it runs four times per interval at most', async () => {
  const waker = createWakeSignal()
  const intervalMs = 200
  let runs = 0
  const startedAtMs = performance.now()
  const jobs = started({
    waker,
    intervalMs,
    run: async () => {
      runs += 1
      waker.wake()
    },
  })
  const flood = setInterval(() => waker.wake(), 1)
  await expect.poll(() => runs, { timeout: 30_000 }).toBeGreaterThan(8)
  clearInterval(flood)
  const [ran, elapsedMs] = [runs, performance.now() - startedAtMs]
  await jobs.close()
  // A timer may be a millisecond early; a slow machine only makes it fewer.
  expect(ran).toBeLessThanOrEqual(1 + elapsedMs / (intervalMs / 4 - 1))
})

test('F-74: a job that fails is run ever more seldom, however often it is woken, and tells it once a minute', async () => {
  const waker = createWakeSignal()
  const startsMs: number[] = []
  const told: object[] = []
  let nowMs = 1_000
  const jobs = started(
    {
      waker,
      intervalMs: 20,
      pauseMinMs: 0,
      async run() {
        startsMs.push(performance.now())
        waker.wake()
        throw new Error(`run ${startsMs.length}`)
      },
    },
    (job, error, trouble) => void told.push({ job, error: String(error), ...trouble }),
    () => nowMs,
  )
  await expect.poll(() => startsMs.length, { timeout: 30_000 }).toBeGreaterThan(4)
  nowMs = 61_000
  await expect.poll(() => told.length, { timeout: 30_000 }).toBe(2)
  await jobs.close()
  const pauses = startsMs.slice(1).map((at, index) => at - (startsMs[index] ?? at))
  for (const [index, pause] of pauses.slice(0, 4).entries())
    expect(pause).toBeGreaterThan(20 * 2 ** index - 2)
  expect(told).toMatchObject([
    { job: 'rare', error: 'Error: run 1', sinceMs: 1_000, runs: 1 },
    { job: 'rare', sinceMs: 1_000, runs: expect.any(Number) },
  ])
})
