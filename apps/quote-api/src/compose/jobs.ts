import { randomUUID } from 'node:crypto'
import type { Database } from '@causeway/database'
import { startElections } from '@causeway/database'
import { Counter, type HttpMetrics, watchSeries } from '@causeway/http'
import type { Logger } from 'pino'
import { type Job, type RunningJobs, runJobs } from '../jobs/runJobs.ts'

/** Competes with other processes for the leadership of each job, and runs a job while this process leads it. */
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
    onFailure: (job, error, { sinceMs, runs }) =>
      logger.error({ job, since: new Date(sinceMs).toISOString(), runs, err: error }, 'job failed'),
  })
  watchJobs(metrics, running, jobs)
  return {
    async close() {
      await running.close()
      await elections.close()
      await lockDatabase.close()
    },
  }
}

/**
 * Health of the background jobs of this process, read when scraped. Their label is `name` and not `job`,
 * which is what Prometheus itself calls a group of targets.
 */
function watchJobs(
  { registry }: Pick<HttpMetrics, 'registry'>,
  running: RunningJobs,
  jobs: readonly Job[],
): void {
  type Health = ReturnType<RunningJobs['health']>[number]
  const gauge = (name: string, help: string, read: (job: Health) => number) =>
    watchSeries(registry, { name, help, labelNames: ['name'] }, () =>
      running.health().map((job) => ({ labels: { name: job.name }, value: read(job) })),
    )
  const counter = (name: string, help: string, read: (job: Health) => number) =>
    new Counter({
      name,
      help,
      labelNames: ['name'],
      registers: [registry],
      // `runJobs` keeps the counts; a scrape copies them.
      collect() {
        this.reset()
        for (const job of running.health()) this.inc({ name: job.name }, read(job))
      },
    })
  gauge('job_leading', '1 while this process leads the job', ({ epoch }) => (epoch === undefined ? 0 : 1))
  counter('job_runs_total', 'Runs of the job in this process', ({ runs }) => runs)
  counter('job_failures_total', 'Runs of the job in this process that failed', ({ failures }) => failures)
  gauge(
    'job_last_success_timestamp_seconds',
    'Unix time of the last run that succeeded in this process; 0 before the first',
    ({ lastSuccessAtMs = 0 }) => lastSuccessAtMs / 1_000,
  )
  const intervals = jobs.map(({ name, intervalMs }) => ({
    labels: { name },
    value: intervalMs / 1_000,
  }))
  watchSeries(
    registry,
    { name: 'job_interval_seconds', help: 'Pause between two runs of the job', labelNames: ['name'] },
    () => intervals,
  )
}
