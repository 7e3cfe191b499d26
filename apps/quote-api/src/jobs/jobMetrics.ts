import { Gauge, type HttpMetrics } from '@causeway/http'
import type { RunningJobs } from './runJobs.ts'

/** Health of the background jobs of this process, read when scraped. */
export function watchJobs({ registry }: Pick<HttpMetrics, 'registry'>, jobs: RunningJobs): void {
  const gauge = (
    name: string,
    help: string,
    read: (job: ReturnType<RunningJobs['health']>[number]) => number,
  ) =>
    new Gauge({
      name,
      help,
      labelNames: ['job'],
      registers: [registry],
      collect() {
        for (const job of jobs.health()) this.set({ job: job.name }, read(job))
      },
    })
  gauge('job_leading', '1 while this process leads the job', ({ epoch }) => (epoch === undefined ? 0 : 1))
  gauge('job_runs', 'Runs of the job in this process', ({ runs }) => runs)
  gauge('job_failures', 'Runs of the job in this process that failed', ({ failures }) => failures)
  gauge(
    'job_last_success_timestamp_seconds',
    'Unix time of the last run that succeeded in this process; 0 before the first',
    ({ lastSuccessAtMs = 0 }) => lastSuccessAtMs / 1_000,
  )
}
