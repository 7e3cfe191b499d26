import { setTimeout as sleep } from 'node:timers/promises'
import type { DomainError } from '@causeway/core'
import {
  createHttpApp,
  createHttpMetrics,
  createOpsListener,
  createReadiness,
  type ErrorPolicy,
  noApiKeys,
  openListener,
} from '@causeway/http'
import { watchDroppedLines } from '@causeway/service'
import type { Logger } from 'pino'
import type { QuoteApiConfig } from '../config/config.ts'

/** Answers for a service whose database is not ready yet. Calls come one after another, never at once. */
export interface DatabaseWait {
  /** Opens the ports if they are closed, and answers with the problem. @throws ConfigurationError for a port that cannot be opened */
  show(problem: DomainError): Promise<void>
  /** Shows the problem, then pauses before the next try; pauses grow. */
  pause(problem: DomainError): Promise<void>
  /** Frees the ports for the service itself. */
  close(): Promise<void>
}

const pauseFirstMs = 250
const pauseMaxMs = 5_000
/** A problem that stays is logged again after this time. */
const remindAfterMs = 30_000

/** Pause before try `tries + 1`. */
function pauseMsAfter(tries: number): number {
  return Math.min(pauseFirstMs * 2 ** Math.min(tries, 10), pauseMaxMs)
}

/**
 * Opens no port until the service has to wait. Then `/lives/v1` answers, every other public route is a 503 that says
 * what is waited for, and `/ready` is false with the same reason.
 */
export function createDatabaseWait(
  config: Pick<QuoteApiConfig, 'http' | 'ops' | 'trustedProxies'>,
  answering: { readonly errors: ErrorPolicy; readonly logger: Logger },
): DatabaseWait {
  const { logger } = answering
  let listeners: Awaited<ReturnType<typeof openWaitingListeners>> | undefined
  /** The problem that was shown last. */
  let problem: DomainError | undefined
  let tries = 0
  let loggedAtMs = 0
  const logUnlessRepeated = (failure: DomainError) => {
    const nowMs = performance.now()
    if (failure.code === problem?.code && nowMs - loggedAtMs < remindAfterMs) return
    loggedAtMs = nowMs
    logger.warn(
      { reason: failure.code, tries, ...listeners?.addresses, err: failure },
      'waiting for the database',
    )
  }
  const show = async (failure: DomainError) => {
    listeners ??= await openWaitingListeners(config, answering, () => problem ?? failure)
    logUnlessRepeated(failure)
    problem = failure
  }
  return {
    show,
    async pause(failure) {
      await show(failure)
      await sleep(pauseMsAfter(tries))
      tries += 1
    },
    async close() {
      await listeners?.close()
      listeners = undefined
    },
  }
}

const unlimited = { perKeyMax: 0, perIpMax: 0 }

async function openWaitingListeners(
  config: Pick<QuoteApiConfig, 'http' | 'ops' | 'trustedProxies'>,
  { errors, logger }: { readonly errors: ErrorPolicy; readonly logger: Logger },
  problemNow: () => DomainError,
) {
  const metrics = createHttpMetrics({ service: 'quote-api' })
  watchDroppedLines(metrics)
  const refuse = async () => {
    throw problemNow()
  }
  const readiness = createReadiness({ checks: [{ name: 'database', check: refuse }] })
  const app = await createHttpApp({
    logger,
    metrics,
    readiness,
    // Keys are in the database, so none can be checked now.
    apiKeys: noApiKeys,
    unknownKeys: 'ignore',
    trustedProxies: config.trustedProxies,
    errors,
    cors: true,
    rateLimits: {
      windowMs: 1_000,
      classes: { read: unlimited },
      defaultClass: 'read',
      failedKeysPerMinuteMax: 0,
    },
  })
  // Refused in `onRequest`, before the body is read.
  const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']
  app.route({ method: methods, url: '/*', onRequest: refuse, handler: refuse })
  const ops = createOpsListener({ logger, errors, registry: metrics.registry, readiness })
  const close = () => Promise.all([app.close(), ops.close()])
  try {
    const [publicUrl, opsUrl] = await Promise.all([
      openListener(app, config.http, 'HTTP_PORT'),
      openListener(ops, config.ops, 'OPS_PORT'),
    ])
    return { addresses: { publicUrl, opsUrl }, close }
  } catch (error) {
    await close()
    throw error
  }
}
