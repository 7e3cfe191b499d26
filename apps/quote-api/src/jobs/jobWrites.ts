import { type SqlDatabase, UpstreamUnavailableError } from '@causeway/core'
import type { ReadinessCheck } from '@causeway/http'
import type { Job } from './runJobs.ts'

const writeEveryMs = 2_000

/**
 * Shows whether any process runs the jobs. A job only writes the time to a row, by the pool that all jobs write with; a
 * readiness check of every process reads that row's age. A process counts no time before its own start.
 * @param options.silentSeconds age from which this process is not ready
 * @source rule O-59
 */
export function createJobWrites(options: {
  readonly database: SqlDatabase
  readonly silentSeconds: number
  readonly now: () => number
}): { readonly job: Job; readonly check: ReadinessCheck } {
  const { database, silentSeconds, now } = options
  const startedMs = now()
  return {
    job: {
      name: 'job-writes',
      intervalMs: writeEveryMs,
      run: ({ fence }) =>
        database.transaction(async (tx) => {
          await fence(tx)
          await tx.query(
            `insert into job_write default values on conflict (singleton) do update set written_at = clock_timestamp()`,
          )
        }),
    },
    check: {
      name: 'jobs',
      async check() {
        const [row] = await database.query<{ ageSeconds: number }>(
          `select extract(epoch from clock_timestamp() - written_at)::float8 as "ageSeconds" from job_write`,
        )
        // A row that was written before this process started tells nothing of the time since.
        const upSeconds = (now() - startedMs) / 1_000
        const ageSeconds = row === undefined ? upSeconds : row.ageSeconds
        // `/ready` shows a number that a check returns as an age.
        if (Math.min(ageSeconds, upSeconds) <= silentSeconds) return ageSeconds
        throw new UpstreamUnavailableError('No process runs the jobs of this database.', {
          code: 'JOBS_SILENT',
          data: { ageSeconds: Math.round(ageSeconds) },
        })
      },
    },
  }
}
