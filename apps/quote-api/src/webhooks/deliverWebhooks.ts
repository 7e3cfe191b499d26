import type { SqlDatabase } from '@causeway/core'
import type { Peppers } from '../access/keys/peppers.ts'
import { createWakeSignal, type Job, type Run } from '../jobs/runJobs.ts'
import {
  type DueDelivery,
  failDelivery,
  finishDelivery,
  handOver,
  hasMessages,
  listDue,
  pruneDeliveries,
} from './deliveryStore.ts'
import { resealEndpoints } from './endpointStore.ts'
import { type RetryRule, retryPauseMs } from './retryRule.ts'
import { openSecrets } from './sealedSecrets.ts'
import type { SendMessage, SendOutcome } from './sendMessage.ts'
import { UnreadableSecretsError } from './webhookErrors.ts'

export type AttemptOutcome = SendOutcome | { readonly outcome: 'secrets_unreadable' }

/** One attempt that has ended, for metrics and the log. */
export type DeliveryAttempt = {
  readonly eventId: string
  readonly apiKeyId: string
  readonly result: AttemptOutcome
  readonly seconds: number
  readonly isGivenUp: boolean
}

/** The job that sends webhook messages. */
export type WebhookDelivery = {
  readonly job: Job
  /** Waits for messages that are being sent; call it once the job has ended. */
  close(): Promise<void>
}

const intervalMs = 500
const upkeepIntervalMs = 3_600_000
/** Messages taken from the outbox in one transaction. */
const handOverMax = 500
/** Due deliveries read in one run. */
const dueMax = 512
/** Deliveries under way: in all, and per endpoint that does not fail. */
const atOnceMax = 128
const perEndpointMax = 4

export type WebhookDeliveryOptions = {
  readonly database: SqlDatabase
  readonly peppers: Peppers
  readonly send: SendMessage
  readonly retry: RetryRule
  /** Days after which messages that were delivered or given up are deleted. */
  readonly keptDays: number
  readonly random: () => number
  /** Milliseconds of a clock that never goes back. */
  readonly now: () => number
  readonly onAttempt: (attempt: DeliveryAttempt) => void
  /** A result could not be stored: the message will be sent again. */
  readonly onFailure: (error: unknown) => void
}

/**
 * Sends each waiting message at least once. A delivery may go on after the run that started it, so that a
 * slow receiver does not delay others; its result is stored by that run's fence, so a process that leads no
 * more stores none. An endpoint has at most `perEndpointMax` deliveries at a time, and one while it fails.
 * @source rule L-81
 */
export function createWebhookDelivery(options: WebhookDeliveryOptions): WebhookDelivery {
  const { database, now } = options
  const wakeSignal = createWakeSignal()
  const deliveries = new Map<string, { readonly apiKeyId: string; readonly done: Promise<void> }>()
  /** Keys whose last attempt failed. */
  const failing = new Set<string>()
  let upkeepAtMs = Number.NEGATIVE_INFINITY

  const hasRoom = (apiKeyId: string) => {
    const ofEndpoint = [...deliveries.values()].filter((delivery) => delivery.apiKeyId === apiKeyId)
    const endpointMax = failing.has(apiKeyId) ? 1 : perEndpointMax
    return deliveries.size < atOnceMax && ofEndpoint.length < endpointMax
  }

  async function deliver(due: DueDelivery, run: Run): Promise<void> {
    const attempt = await attemptDelivery(options, due, run)
    if (attempt.result.outcome === 'delivered') failing.delete(due.apiKeyId)
    else failing.add(due.apiKeyId)
    options.onAttempt(attempt)
  }

  function start(due: DueDelivery, run: Run): void {
    const { eventId, apiKeyId } = due
    const done = deliver(due, run)
      .catch((error: unknown) => {
        if (!run.signal.aborted) options.onFailure(error)
      })
      .finally(() => {
        deliveries.delete(eventId)
        wakeSignal.wake()
      })
    deliveries.set(eventId, { apiKeyId, done })
  }

  async function run(current: Run): Promise<void> {
    const hasWork = await hasMessages(database)
    if (hasWork) await handOverAll(database, current)
    if (now() - upkeepAtMs >= upkeepIntervalMs) {
      await maintainWebhooks(options, current)
      upkeepAtMs = now()
    }
    if (!hasWork) return
    const query = { perEndpoint: perEndpointMax, limit: dueMax, underway: [...deliveries.keys()] }
    for (const due of await listDue(database, query)) {
      if (hasRoom(due.apiKeyId)) start(due, current)
    }
  }

  return {
    // No shortest pause: only its own deliveries wake this job, and their number is bounded.
    job: { name: 'webhooks', intervalMs, pauseMinMs: 0, waker: wakeSignal, run },
    async close() {
      await Promise.all([...deliveries.values()].map(({ done }) => done))
    },
  }
}

/** Turns all queued messages of the outbox into deliveries. */
async function handOverAll(database: SqlDatabase, { fence, signal }: Run): Promise<void> {
  let handedCount = handOverMax
  while (handedCount === handOverMax && !signal.aborted) {
    handedCount = await database.transaction(async (tx) => {
      await fence(tx)
      return handOver(tx, handOverMax)
    })
  }
}

/** Hourly upkeep: seals secrets under the current pepper, and deletes old deliveries. */
async function maintainWebhooks(
  { database, peppers, keptDays }: WebhookDeliveryOptions,
  { fence }: Run,
): Promise<void> {
  await database.transaction(async (tx) => {
    await fence(tx)
    await resealEndpoints(tx, peppers)
    await pruneDeliveries(tx, keptDays)
  })
}

/** Sends a message once and stores the result. */
async function attemptDelivery(
  options: WebhookDeliveryOptions,
  due: DueDelivery,
  { fence, signal }: Run,
): Promise<DeliveryAttempt> {
  const { database, retry, random, now } = options
  const startedMs = now()
  const result = await sendOnce(options, due, signal)
  const { eventId, apiKeyId } = due
  const isDelivered = result.outcome === 'delivered'
  const pauseMs = isDelivered ? 0 : retryPauseMs(retry, due.attempts + 1, random())
  await database.transaction(async (tx) => {
    await fence(tx)
    if (isDelivered) await finishDelivery(tx, eventId)
    else await failDelivery(tx, eventId, { problem: problemOf(result), pauseMs })
  })
  return { eventId, apiKeyId, result, seconds: (now() - startedMs) / 1_000, isGivenUp: pauseMs === undefined }
}

async function sendOnce(
  { peppers, send }: Pick<WebhookDeliveryOptions, 'peppers' | 'send'>,
  due: DueDelivery,
  signal: AbortSignal,
): Promise<AttemptOutcome> {
  const { eventId, apiKeyId, url, body } = due
  try {
    return await send({ eventId, url, body, ...openSecrets(peppers, apiKeyId, due) }, signal)
  } catch (error) {
    if (error instanceof UnreadableSecretsError) return { outcome: 'secrets_unreadable' }
    throw error
  }
}

/** Text of a failed attempt, stored with the message and shown to operators. */
export function problemOf(result: AttemptOutcome): string {
  return result.outcome === 'answered' ? `answered_${result.status}` : result.outcome
}
