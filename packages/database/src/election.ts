import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { SqlDatabase, SqlTx } from '@causeway/core'

/** Throws unless the leadership it belongs to is still the newest; runs inside the transaction that writes. */
export type Fence = (tx: SqlTx) => Promise<void>

export type Leadership = { readonly epoch: bigint; readonly fence: Fence }

/** Another process leads the job by now: nothing of the old leader may be written any more. */
class StaleLeadershipError extends Error {
  constructor(job: string, epoch: bigint) {
    super(`epoch ${epoch} of the job ${job} is over`)
    this.name = 'StaleLeadershipError'
  }
}

export type ElectionOptions = {
  /** In the order in which they are tried, the same one in every process. */
  readonly jobs: readonly string[]
  /**
   * Whoever leads one leads all, for work that needs several at once: a later job is tried only while this process leads
   * those before it. Default: each job by itself, so that processes share them.
   */
  readonly areTogether?: boolean
  /** A connection of its own: one transaction stays open and holds the locks. */
  readonly lockDatabase: SqlDatabase
  /** Database of the epochs and of the jobs' writes. */
  readonly database: SqlDatabase
  /** Names this process to operators. */
  readonly holder: string
  /**
   * A leader that shows no sign of life for so long loses its locks: the server ends its connection. One
   * that dies loses them at once. Default 10 s.
   */
  readonly leaseMs?: number
  readonly onChange: (job: string, epoch: bigint | undefined) => void
  readonly onFailure: (error: unknown) => void
}

export interface Elections {
  /** The leadership of this process, `undefined` while another leads. */
  leadershipOf(job: string): Leadership | undefined
  /** Gives every leadership up. */
  close(): Promise<void>
}

/** First half of the keys of this project's job locks; any fixed number. */
export const jobLockClass = 0x0ca5e3a7
const beatsPerLease = 5
const retryMs = 500

/**
 * Runs for the leadership of each job until closed. Correctness rests on the fence alone; the lock only keeps
 * several processes from doing the same work. @source design.md 3, Past one machine
 */
export function startElections(options: ElectionOptions): Elections {
  const { jobs, areTogether = false, lockDatabase, leaseMs = 10_000, onChange, onFailure } = options
  const closing = new AbortController()
  const leading = new Map<string, Leadership>()
  const pause = (timeMs: number) => sleep(timeMs, undefined, { signal: closing.signal }).catch(() => {})

  const lead = async (tx: SqlTx) => {
    await tx.query(`select set_config('idle_in_transaction_session_timeout', $1, true)`, [String(leaseMs)])
    while (!closing.signal.aborted) {
      // Each question is a sign of life too, and so is a try that fails.
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
      // Shared with other writes of this leader; the next leader waits for them, and later ones find no row.
      const rows = await tx.query('select 1 from job_epoch where job = $1 and epoch = $2 for share', [
        job,
        epoch,
      ])
      if (rows.length === 0) throw new StaleLeadershipError(job, epoch)
    },
  }
}
