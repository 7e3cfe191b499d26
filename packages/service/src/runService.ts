import { admitStart, type Examine, type ExaminedService } from './doctor/tellReport.ts'
import type { OpenService } from './openService.ts'
import { installShutdown, type ShutdownOptions } from './shutdown.ts'

type Variables = Readonly<Record<string, string | undefined>>

/** A service whose parts are made, but whose listeners are closed and whose jobs have not begun. */
type BuiltService = Pick<OpenService, 'logger' | 'readiness' | 'close'> &
  Pick<ShutdownOptions, 'drainMs'> & {
    /** Opens the listeners, starts the jobs, and logs it. */
    begin(): Promise<void>
  }

const stopSignals = ['SIGTERM', 'SIGINT'] as const

/**
 * Runs a service until a signal stops it. First it examines the settings as the doctor does, and refuses to start with bad
 * ones.
 * @param variables the environment with secrets merged in
 * @param options.endsWhileBuilt true: a stop signal during the start ends the process with 0. Without a handler the first
 * process of a container ignores such signals
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
  // No request or job has begun, so nothing needs closing.
  const exitAtOnce = () => process.exit(0)
  if (endsWhileBuilt) for (const signal of stopSignals) process.once(signal, exitAtOnce)
  await admitStart(service, variables, examine)
  const { logger, readiness, close, drainMs, begin } = await build()
  for (const signal of stopSignals) process.off(signal, exitAtOnce)
  installShutdown({ logger, readiness, close, ...(drainMs !== undefined && { drainMs }) })
  await begin()
}
