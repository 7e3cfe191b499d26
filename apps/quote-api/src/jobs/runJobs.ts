import { setMaxListeners } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Elections, Fence } from '@causeway/database'

/** One run of a job. Writes call `fence` first, which fails for a former leader; reads end on `signal`. */
export type Run = { readonly fence: Fence; readonly signal: AbortSignal }

/** Background work that is repeated, in one process at a time: the one that leads this job. */
export type Job = {
  /** Lower case with hyphens: names the lock, the metrics and the log lines. */
  readonly name: string
  /** Pause between the end of a run and the next. */
  readonly intervalMs: number
  /** Cuts the pause short when something new is known. */
  readonly waker?: WakeSignal
  /**
   * Shortest pause, however often the job is woken: callers' hints wake jobs too, and must not make them run back to
   * back. Default: a quarter of the interval, at most a second.
   */
  readonly pauseMinMs?: number
  run(run: Run): Promise<void>
}

/** Wakes one job. Several wakes before its next pause count as one. */
export interface WakeSignal {
  /** Ends the pause that runs now, or the next one. */
  wake(): void
  /** Calls back on the next wake, at once if there was one already. @returns a function that ends the listening */
  listen(onWake: () => void): () => void
}

export function createWakeSignal(): WakeSignal {
  let isWoken = false
  let listener: (() => void) | undefined
  const deliver = () => {
    if (!isWoken || listener === undefined) return
    const onWake = listener
    isWoken = false
    listener = undefined
    onWake()
  }
  return {
    wake() {
      isWoken = true
      deliver()
    },
    listen(onWake) {
      listener = onWake
      deliver()
      return () => {
        listener = undefined
      }
    },
  }
}

/** State of one job in this process. */
export type JobHealth = {
  readonly name: string
  /** Number of the leadership that this process has; `undefined` while another process leads. */
  readonly epoch: bigint | undefined
  readonly runs: number
  readonly failures: number
  readonly consecutiveFailures: number
  /** Milliseconds since the epoch; `undefined` before the first success in this process. */
  readonly lastSuccessAtMs: number | undefined
}

export interface RunningJobs {
  health(): readonly JobHealth[]
  /** Ends running work and waits for it. */
  close(): Promise<void>
}

/**
 * Called for a failed run, once a minute at most, with the time of the first failure in a row and the number of failures.
 */
export type OnFailure = (
  job: string,
  error: unknown,
  failureStreak: { readonly sinceMs: number; readonly runs: number },
) => void

const reportEveryMs = 60_000
/** After a failure the shortest pause is the interval; each further failure in a row doubles it, up to this much. */
const failurePauseMaxMs = 5_000

/** Default of `pauseMinMs`: this part of the interval, at most `pauseMinMaxMs`. */
const pauseMinPart = 4
const pauseMinMaxMs = 1_000

/** Longest pause of a process that does not lead, so that a rare job starts soon after the leadership is won. */
const waitingMs = 1_000

type JobsOptions = {
  jobs: readonly Job[]
  elections: Elections
  now: () => number
  onFailure: OnFailure
}

/** Runs each job again and again while this process leads it. A run that fails is repeated, never fatal. */
export function runJobs(options: JobsOptions): RunningJobs {
  const closing = new AbortController()
  const running = options.jobs.map((job) => runJob(job, { ...options, signal: closing.signal }))
  return {
    health: () => running.map(({ health }) => health()),
    async close() {
      closing.abort()
      await Promise.all(running.map(({ ended }) => ended))
    },
  }
}

function runJob(
  job: Job,
  options: Omit<JobsOptions, 'jobs'> & { readonly signal: AbortSignal },
): { health: () => JobHealth; ended: Promise<void> } {
  const { elections, signal } = options
  const record = createRunRecord(job.name, options)
  const runOnce = async () => {
    const leadership = elections.leadershipOf(job.name)
    if (leadership === undefined) return
    try {
      await job.run({ fence: leadership.fence, signal })
      record.addSuccess()
    } catch (error) {
      // A run that ends because the jobs are closed has not failed.
      if (!signal.aborted) record.addFailure(error)
    }
  }
  const repeat = async () => {
    while (!signal.aborted) {
      const isLeading = elections.leadershipOf(job.name) !== undefined
      await runOnce()
      await pause(job, pauseBounds(job, isLeading, record.counts().consecutiveFailures), signal)
    }
  }
  return {
    health: () => ({ name: job.name, epoch: elections.leadershipOf(job.name)?.epoch, ...record.counts() }),
    ended: repeat(),
  }
}

/** Counts the runs of one job, and reports its failures. */
function createRunRecord(name: string, { now, onFailure }: Pick<JobsOptions, 'now' | 'onFailure'>) {
  let counts: Omit<JobHealth, 'name' | 'epoch'> = {
    runs: 0,
    failures: 0,
    consecutiveFailures: 0,
    lastSuccessAtMs: undefined,
  }
  let failingSinceMs = 0
  let reportedAtMs = -Infinity
  return {
    counts: () => counts,
    addSuccess() {
      counts = { ...counts, runs: counts.runs + 1, consecutiveFailures: 0, lastSuccessAtMs: now() }
    },
    addFailure(error: unknown) {
      if (counts.consecutiveFailures === 0) failingSinceMs = now()
      const consecutiveFailures = counts.consecutiveFailures + 1
      counts = { ...counts, runs: counts.runs + 1, failures: counts.failures + 1, consecutiveFailures }
      if (now() - reportedAtMs < reportEveryMs) return
      reportedAtMs = now()
      onFailure(name, error, { sinceMs: failingSinceMs, runs: consecutiveFailures })
    },
  }
}

/** `leastMs` pass in any case; `mostMs` pass unless the job is woken. */
type PauseBounds = { readonly leastMs: number; readonly mostMs: number }

function pauseBounds(job: Job, isLeading: boolean, consecutiveFailures: number): PauseBounds {
  const { intervalMs, pauseMinMs = Math.min(intervalMs / pauseMinPart, pauseMinMaxMs) } = job
  const failurePauseMs =
    consecutiveFailures === 0 ? 0 : Math.min(intervalMs * 2 ** (consecutiveFailures - 1), failurePauseMaxMs)
  const leastMs = Math.max(pauseMinMs, failurePauseMs)
  const pauseMs = isLeading ? intervalMs : Math.min(intervalMs, waitingMs)
  return { leastMs, mostMs: Math.max(pauseMs, leastMs) }
}

/** Pauses for `mostMs`. A wake ends the pause once `leastMs` have passed; the signal ends it at once. */
async function pause(
  job: Pick<Job, 'waker'>,
  { leastMs, mostMs }: PauseBounds,
  signal: AbortSignal,
): Promise<void> {
  if (signal.aborted) return
  const ending = new AbortController()
  const end = () => ending.abort()
  // Every job listens to this one signal while it pauses, which Node would warn of.
  setMaxListeners(0, signal)
  signal.addEventListener('abort', end, { once: true })
  const sleepFor = (timeMs: number) => sleep(timeMs, undefined, { signal: ending.signal }).catch(() => {})
  await sleepFor(leastMs)
  const stopListening = job.waker?.listen(end)
  await sleepFor(Math.max(mostMs - leastMs, 0))
  stopListening?.()
  signal.removeEventListener('abort', end)
}
