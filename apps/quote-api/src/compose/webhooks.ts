import type { SqlDatabase } from '@causeway/core'
import type { HttpMetrics } from '@causeway/http'
import type { Logger } from 'pino'
import type { Peppers } from '../access/keys/peppers.ts'
import type { QuoteApiConfig } from '../config/config.ts'
import { createWebhookDelivery, type WebhookDelivery } from '../webhooks/deliverWebhooks.ts'
import { defaultRetryRule } from '../webhooks/retryRule.ts'
import { createMessageSender } from '../webhooks/sendMessage.ts'
import { createWebhookObserver } from '../webhooks/webhookMetrics.ts'

const attemptTimeoutMs = 10_000

/** Sends integrators what becomes of their requests. */
export function createWebhooks(options: {
  config: Pick<QuoteApiConfig, 'webhooks'>
  database: SqlDatabase
  peppers: Peppers
  metrics: Pick<HttpMetrics, 'registry'>
  logger: Logger
}): WebhookDelivery {
  const { config, database, peppers, logger } = options
  return createWebhookDelivery({
    database,
    peppers,
    send: createMessageSender({
      allowPrivate: config.webhooks.allowPrivate,
      timeoutMs: attemptTimeoutMs,
      now: () => Date.now(),
    }),
    keptDays: config.webhooks.keptDays,
    retry: defaultRetryRule,
    random: Math.random,
    now: () => performance.now(),
    onAttempt: createWebhookObserver(options),
    onFailure: (error) => logger.error({ err: error }, 'webhook result not stored'),
  })
}
