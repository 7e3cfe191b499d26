import type { Readiness } from '@causeway/http'
import closeWithGrace from 'close-with-grace'
import type { FastifyBaseLogger } from 'fastify'
import type { Lifetime } from './lifetime.ts'

export type ShutdownOptions = {
  readonly logger: FastifyBaseLogger
  readonly readiness: Readiness
  readonly close: Lifetime['close']
  /** Wait after readiness is off, in which balancers notice it. Default 5 s. */
  readonly drainMs?: number
  /** Time from the signal after which the process exits with 1 even if parts are still open. Default: `drainMs` + 20 s. */
  readonly hardExitMs?: number
}

/** Not handled: crashes of native code (JavaScript is not safe then), the profiler's signal, an empty event loop. */
const unhandledEvents = [
  'SIGQUIT',
  'SIGILL',
  'SIGTRAP',
  'SIGABRT',
  'SIGBUS',
  'SIGFPE',
  'SIGSEGV',
  'SIGUSR2',
  'beforeExit',
] as const

/**
 * Installs the handlers that stop the process. A first SIGTERM or SIGINT turns readiness off, waits `drainMs`, closes all
 * parts in order and exits 0, or 1 if a part failed to close. A second signal exits 1 immediately. An uncaught exception
 * or unhandled rejection is logged and exits 1 without closing: the state in memory is unknown then, and all
 * acknowledged work is durable.
 * @returns `uninstall` removes the handlers
 * @source rules O-131, O-168
 */
export function installShutdown(options: ShutdownOptions): { uninstall(): void } {
  const { logger, readiness, close, drainMs = 5_000, hardExitMs = drainMs + 20_000 } = options
  const handlers = closeWithGrace(
    {
      delay: hardExitMs,
      logger: false,
      skip: [...unhandledEvents],
      onSecondSignal: (signal) => logger.error({ signal }, 'second signal, exiting at once'),
      onTimeout: () => logger.error({ hardExitMs }, 'stopping took too long, exiting'),
    },
    async ({ err, signal }) => {
      // Decided by the signal and not by `err`, because a rejection may carry no reason.
      if (signal === undefined) {
        logger.fatal({ err }, 'uncaught error, exiting')
        process.exit(1)
      }
      logger.info({ signal, drainMs }, 'stopping')
      readiness.startDraining()
      await new Promise((resolve) => setTimeout(resolve, drainMs))
      const failures = await close()
      logger.info('stopped')
      if (failures > 0) process.exit(1)
    },
  )
  return { uninstall: () => handlers.uninstall() }
}
