import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { SqlDatabase, SqlTx } from '@causeway/core'

/**
 * Throws unless this process still leads the job. A job calls it inside every transaction that writes, so that a leader
 * which was replaced writes nothing.
 */
export type Fence = (tx: SqlTx) => Promise<void>

/** Right of this process to run a job. `epoch` grows with each new leader of the job. */
export type Leadership = { readonly epoch: bigint; readonly fence: Fence }

/** Another process leads the job now, so this one may not write for it any more. */
class StaleLeadershipError extends Error {
  constructor(job: string, epoch: bigint) {
    super(`epoch ${epoch} of the job ${job} is over`)
    this.name = 'StaleLeadershipError'
  }
}

export type ElectionOptions = {
  /** Names of jobs, in the order in which their locks are tried; the same order in every process. */
  readonly jobs: readonly string[]
  /**
   * True: one process leads all jobs, for work that needs several at once. A later job's lock is tried only while this
   * process holds those before it. Default: each job by itself, so that processes share them.
   */
  readonly areTogether?: boolean
  /** A pool for the elections alone, because one transaction stays open and holds the locks. */
  readonly lockDatabase: SqlDatabase
  /** Database of the epochs and of the jobs' writes. */
  readonly database: SqlDatabase
  /** Names this process to operators. */
  readonly holder: string
  /**
   * Time without a statement after which the server ends a leader's connection, and with it the locks. A leader that
   * dies loses them at once. Default 10 s.
   */
  readonly leaseMs?: number
  /** Called when this process begins to lead a job, and with `undefined` when it stops. */
  readonly onChange: (job: string, epoch: bigint | undefined) => void
  readonly onFailure: (error: unknown) => void
}

export interface Elections {
  /** The leadership of this process, `undefined` while another leads. */
  leadershipOf(job: string): Leadership | undefined
  /** Gives every leadership up. */
  close(): Promise<void>
}

/** First half of the advisory lock keys of jobs; any fixed number. */
export const jobLockClass = 0x0ca5e3a7
/** Statements per lease that keep the connection alive. */
const beatsPerLease = 5
const retryMs = 500

/**
 * Tries to lead each job until closed. A leader holds the job's advisory lock and has the newest row in
 * `job_epoch`. Correctness rests on the fence, which reads that row; the lock only keeps several processes
 * from doing the same work. All locks of a process are in one open transaction: if its connection breaks, it
 * notices at its next beat and stops leading all jobs. Until then another process may lead already, and the
 * fence throws in every write of this one.
 */
export function startElections(options: ElectionOptions): Elections {
  const { jobs, areTogether = false, lockDatabase, leaseMs = 10_000, onChange, onFailure } = options
  const closing = new AbortController()
  const leading = new Map<string, Leadership>()
  const pause = (timeMs: number) => sleep(timeMs, undefined, { signal: closing.signal }).catch(() => {})

  const lead = async (tx: SqlTx) => {
    await tx.query(`select set_config('idle_in_transaction_session_timeout', $1, true)`, [String(leaseMs)])
    while (!closing.signal.aborted) {
      // Keeps the connection from being ended as idle, and throws if it was lost.
      await tx.query('select 1')
      for (const job of jobs) {
        if (leading.has(job)) continue
        if (!(await tryLock(tx, job))) {
          if (areTogether) break
          continue
        }
        const leadership = await beginEpoch(options, job)
        leading.set(job, leadership)
        onChange(job, leadership.epoch)
      }
      await pause(leaseMs / beatsPerLease)
    }
  }
  const stepDown = () => {
    for (const job of leading.keys()) onChange(job, undefined)
    leading.clear()
  }
  const run = async () => {
    while (!closing.signal.aborted) {
      await lockDatabase.transaction(lead).catch(onFailure)
      stepDown()
      if (!closing.signal.aborted) await pause(retryMs)
    }
  }
  const ended = run()
  return {
    leadershipOf: (job) => leading.get(job),
    async close() {
      closing.abort()
      await ended
    },
  }
}

async function tryLock(tx: SqlTx, job: string): Promise<boolean> {
  const [row] = await tx.query<{ won: boolean }>('select pg_try_advisory_xact_lock($1, $2) as won', [
    jobLockClass,
    createHash('sha256').update(job).digest().readInt32BE(0),
  ])
  return row?.won === true
}

async function beginEpoch({ database, holder }: ElectionOptions, job: string): Promise<Leadership> {
  const [row] = await database.query<{ epoch: bigint }>(
    `insert into job_epoch (job, epoch, holder) values ($1, 1, $2)
     on conflict (job) do update set epoch = job_epoch.epoch + 1, holder = $2, since = clock_timestamp()
     returning epoch`,
    [job, holder],
  )
  if (row === undefined) throw new Error('an epoch was not begun')
  const { epoch } = row
  return {
    epoch,
    async fence(tx) {
      // The shared row lock lets this leader's transactions run together. The next leader's update waits for them, and
      // transactions after it find no row.
      const rows = await tx.query('select 1 from job_epoch where job = $1 and epoch = $2 for share', [
        job,
        epoch,
      ])
      if (rows.length === 0) throw new StaleLeadershipError(job, epoch)
    },
  }
}
