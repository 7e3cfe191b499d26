import type { SqlDatabase } from '@causeway/core'
import { Counter, type HttpMetrics } from '@causeway/http'
import type { Logger } from 'pino'
import type { Job } from '../jobs/runJobs.ts'
import { firstId, type RetentionSettings, removePage } from '../requests/retention/removableRequests.ts'

const intervalMs = 600_000
/** Requests looked at in one transaction, which keeps it short. */
const pageMax = 500
/** Pages of one run, so that a large table is walked over hours and not at once. */
const pagesMax = 200

/** Deletes requests by their age, a page at a time; the walk goes on where the last run left it. */
export function createRetention(options: {
  readonly database: SqlDatabase
  readonly settings: RetentionSettings
  readonly metrics: Pick<HttpMetrics, 'registry'>
  readonly logger: Pick<Logger, 'info'>
}): readonly Job[] {
  const { database, settings, metrics, logger } = options
  if (settings.quotesDays === undefined && settings.requestsDays === undefined) return []
  const deleted = new Counter({
    name: 'retention_deleted_total',
    help: 'Quotes and requests that this process deleted by their age',
    labelNames: ['what'],
    registers: [metrics.registry],
  })
  /** Id at which the walk goes on; a restart begins anew. */
  let after: Buffer = firstId
  return [
    {
      name: 'request-retention',
      intervalMs,
      async run({ fence, signal }) {
        const sum = { quotes: 0, requests: 0 }
        for (let page = 0; page < pagesMax && !signal.aborted; page += 1) {
          const { quotes, requests, last } = await database.transaction(async (tx) => {
            await fence(tx)
            return removePage(tx, settings, { after, limit: pageMax })
          })
          deleted.inc({ what: 'quote' }, quotes)
          deleted.inc({ what: 'request' }, requests)
          sum.quotes += quotes
          sum.requests += requests
          after = last ?? firstId
          if (last === undefined) break
        }
        if (sum.quotes + sum.requests > 0) logger.info(sum, 'stored requests are deleted by their age')
      },
    },
  ]
}
