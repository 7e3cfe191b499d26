import { randomUUID } from 'node:crypto'
import type { Database } from '@causeway/database'
import type { HttpMetrics } from '@causeway/http'
import type { Logger } from 'pino'
import { startElections } from '../jobs/election.ts'
import { watchJobs } from '../jobs/jobMetrics.ts'
import { type Job, runJobs } from '../jobs/runJobs.ts'

/** Runs for the leadership of each job and does its work while it leads. */
export function startJobs(options: {
  jobs: readonly Job[]
  database: Database
  /** One connection of its own; closed with the jobs. */
  lockDatabase: Database
  metrics: Pick<HttpMetrics, 'registry'>
  logger: Logger
}): { close(): Promise<void> } {
  const { jobs, database, lockDatabase, metrics, logger } = options
  const elections = startElections({
    jobs: jobs.map(({ name }) => name),
    lockDatabase,
    database,
    holder: `${process.pid}-${randomUUID()}`,
    onChange: (job, epoch) =>
      epoch === undefined
        ? logger.warn({ job }, 'job leadership lost')
        : logger.info({ job, epoch: epoch.toString() }, 'job leadership won'),
    onFailure: (error) => logger.warn({ err: error }, 'job election interrupted'),
  })
  const running = runJobs({
    jobs,
    elections,
    now: () => Date.now(),
    onFailure: (job, error) => logger.error({ job, err: error }, 'job failed'),
  })
  watchJobs(metrics, running)
  return {
    async close() {
      await running.close()
      await elections.close()
      await lockDatabase.close()
    },
  }
}
