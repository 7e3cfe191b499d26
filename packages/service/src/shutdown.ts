import type { Readiness } from '@causeway/http'
import closeWithGrace from 'close-with-grace'
import type { FastifyBaseLogger } from 'fastify'
import type { Lifetime } from './lifetime.ts'

export type ShutdownOptions = {
  readonly logger: FastifyBaseLogger
  readonly readiness: Readiness
  /** Closes all that is open, in order. @returns how much could not be closed */
  readonly close: Lifetime['close']
  /** Time in which a balancer may notice that the process is not ready any more. Default 5 s. */
  readonly drainMs?: number
  /** From the signal on; then the process exits with 1 whatever is open. Default: the drain and 20 s. */
  readonly hardExitMs?: number
}

/** Raised by broken memory (no JavaScript is safe then), by profilers, or by an idle loop. */
const leftAlone = [
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
 * Ends the process well. A first SIGTERM or SIGINT turns readiness off, waits, closes everything in
 * order and exits 0; a second exits 1 at once. An uncaught exception or unhandled rejection is
 * logged and exits 1 without draining: what state it left is unknown, and all acknowledged work is
 * durable.
 * @returns removes the handlers and does nothing else
 * @source rules O-131, O-168
 */
export function installShutdown(options: ShutdownOptions): { uninstall(): void } {
  const { logger, readiness, close, drainMs = 5_000, hardExitMs = drainMs + 20_000 } = options
  const handlers = closeWithGrace(
    {
      delay: hardExitMs,
      logger: false,
      skip: [...leftAlone],
      onSecondSignal: (signal) => logger.error({ signal }, 'second signal, exiting at once'),
      onTimeout: () => logger.error({ hardExitMs }, 'stopping took too long, exiting'),
    },
    async ({ err, signal }) => {
      // A rejection may carry no reason at all.
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
