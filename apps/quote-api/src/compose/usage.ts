import { randomUUID } from 'node:crypto'
import type { SqlDatabase } from '@causeway/core'
import type { Logger } from 'pino'
import { createUsageRecorder, type UsageRecorder } from '../access/usage/usageRecorder.ts'
import { pruneUsage } from '../access/usage/usageStore.ts'
import type { Job } from '../jobs/runJobs.ts'
import { createUsageReading, type ReadUsage } from '../requests/history/usageReading.ts'

/** Usage of keys: counted by every process, kept for a limited time, readable by the keys. */
export type Usage = {
  readonly recorder: UsageRecorder
  readonly readUsage: ReadUsage
  readonly job: Job
}

const retentionIntervalMs = 600_000
/** Sums deleted in one transaction, which keeps it short. */
const batchMax = 10_000

export function createUsage({ database, logger }: { database: SqlDatabase; logger: Logger }): Usage {
  const now = () => Date.now()
  return {
    recorder: createUsageRecorder({
      database,
      writer: randomUUID(),
      now,
      onFailure: (error) => logger.warn({ err: error }, 'usage of keys not stored yet'),
      onLost: (answers) => logger.warn({ answers }, 'answers left out of the usage of keys'),
    }),
    readUsage: createUsageReading({ database, now }),
    job: createUsageRetention(database),
  }
}

/** Job that deletes sums older than their granularity keeps. */
export function createUsageRetention(database: SqlDatabase): Job {
  return {
    name: 'usage-retention',
    intervalMs: retentionIntervalMs,
    async run({ fence, signal }) {
      let isDone = false
      while (!isDone && !signal.aborted) {
        isDone = await database.transaction(async (tx) => {
          await fence(tx)
          return pruneUsage(tx, batchMax)
        })
      }
    },
  }
}
