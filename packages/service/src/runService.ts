import { admitStart, type Examine, type ExaminedService } from './doctor/tellReport.ts'
import type { OpenService } from './openService.ts'
import { installShutdown, type ShutdownOptions } from './shutdown.ts'

type Variables = Readonly<Record<string, string | undefined>>

/** A service that is built and does nothing yet. */
type BuiltService = Pick<OpenService, 'logger' | 'readiness' | 'close'> &
  Pick<ShutdownOptions, 'drainMs'> & {
    /** Opens its listeners, begins to work, and says so in the log. */
    begin(): Promise<void>
  }

const startSignals = ['SIGTERM', 'SIGINT'] as const

/**
 * Runs a service until it is told to stop, after the same look at its settings as the doctor's.
 * @param variables the environment with secrets merged in
 * @param options.endsWhileBuilt true: a signal before it is built ends it with 0. As the first process of a container it
 * would not end by itself
 */
export async function runService(
  service: ExaminedService,
  variables: Variables,
  options: {
    readonly examine: Examine
    readonly build: () => Promise<BuiltService>
    readonly endsWhileBuilt?: boolean
  },
): Promise<void> {
  const { examine, build, endsWhileBuilt = false } = options
  // Nothing is in flight yet.
  const leave = () => process.exit(0)
  if (endsWhileBuilt) for (const signal of startSignals) process.once(signal, leave)
  await admitStart(service, variables, examine)
  const { logger, readiness, close, drainMs, begin } = await build()
  for (const signal of startSignals) process.off(signal, leave)
  installShutdown({ logger, readiness, close, ...(drainMs !== undefined && { drainMs }) })
  await begin()
}
