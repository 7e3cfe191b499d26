import type { SqlDatabase } from '@causeway/core'
import { Counter, Histogram, type HttpMetrics, watchSeries } from '@causeway/http'
import type { Logger } from 'pino'
import { shareReading } from '../jobs/shareReading.ts'
import { type DeliveryAttempt, problemOf } from './deliverWebhooks.ts'
import { readBacklog } from './deliveryStore.ts'

const attemptBuckets = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/** Metrics of deliveries, and log lines of failed ones. Receivers are named by API key, never by URL. */
export function createWebhookObserver(options: {
  metrics: Pick<HttpMetrics, 'registry'>
  database: Pick<SqlDatabase, 'query'>
  logger: Logger
}): (attempt: DeliveryAttempt) => void {
  const { metrics, database, logger } = options
  const registers = [metrics.registry]
  const attempts = new Counter({
    name: 'webhook_attempts_total',
    help: 'Attempts by what became of them: delivered, answered (no success), timed_out, unreachable, address_refused, secrets_unreadable',
    labelNames: ['outcome'],
    registers,
  })
  const givenUp = new Counter({
    name: 'webhook_given_up_total',
    help: 'Messages that failed at their last retry',
    registers,
  })
  const seconds = new Histogram({
    name: 'webhook_attempt_seconds',
    help: 'From the start of an attempt to its stored result',
    buckets: attemptBuckets,
    registers,
  })
  const read = shareReading(() => readBacklog(database))
  watchSeries(
    metrics.registry,
    { name: 'webhook_waiting', help: 'Messages that are not delivered yet', labelNames: [] },
    async () => [{ labels: {}, value: (await read()).waiting }],
  )
  watchSeries(
    metrics.registry,
    {
      name: 'webhook_oldest_waiting_seconds',
      help: 'Age of the oldest message that is not delivered; 0 without one',
      labelNames: [],
    },
    async () => [{ labels: {}, value: (await read()).oldestSeconds }],
  )
  return ({ eventId, apiKeyId, result, seconds: durationSeconds, isGivenUp }) => {
    attempts.inc({ outcome: result.outcome })
    seconds.observe(durationSeconds)
    if (result.outcome === 'delivered') return
    const fields = { eventId, apiKeyId, problem: problemOf(result) }
    if (isGivenUp) {
      givenUp.inc()
      logger.warn(fields, 'webhook given up')
    } else logger.info(fields, 'webhook not delivered')
  }
}
