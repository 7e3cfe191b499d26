import {
  createOpsListener,
  createReadiness,
  type ErrorPolicy,
  type HttpApp,
  type HttpMetrics,
  openListener,
  type Readiness,
  type ReadinessCheck,
  standardErrorPolicy,
  type Tracing,
} from '@causeway/http'
import type { Logger } from 'pino'
import { createLifetime, type Ending, type Lifetime, type Stage } from './lifetime.ts'
import { createLogger, type LoggerOptions } from './logger.ts'
import { createServiceMetrics } from './serviceMetrics.ts'
import { openTracing } from './tracing/openTracing.ts'
import type { TracingSettings } from './tracing/tracingSettings.ts'

/**
 * Common dependencies of every part of a service, such as a job or a database. A part uses them when it is made, to
 * register how it closes, its readiness checks and its metrics.
 * @typeParam In the stages that the part may close in
 */
export type ServiceParts<In extends Stage = Stage> = Ending<In> & {
  readonly logger: Logger
  readonly metrics: HttpMetrics
  /** Undefined where traces are off. */
  readonly tracing: Tracing | undefined
  /** Adds a condition that must hold before the process is ready. */
  readonly check: (check: ReadinessCheck) => void
}

export type OpenService = ServiceParts &
  Pick<Lifetime, 'close'> & {
    readonly readiness: Readiness
    /** Serves metrics and readiness. The service opens it by `openListeners`; it closes last. */
    readonly opsListener: HttpApp
  }

export type ServiceOptions = {
  readonly name: string
  readonly logLevel: LoggerOptions['level']
  readonly tracing?: TracingSettings | undefined
  /** Default: `standardErrorPolicy`. */
  readonly errors?: ErrorPolicy
  /** Log level of a failed check. Default: a warning. */
  readonly failedCheckLevel?: 'debug' | 'warn'
}

/**
 * Makes a service: first its frame (log, metrics, traces, readiness and the ops listener), then by `compose` its parts. If
 * `compose` fails, the parts that are open by then are closed in the order of a normal stop.
 */
export async function composeService<Service>(
  options: ServiceOptions,
  compose: (service: OpenService) => Promise<Service>,
): Promise<Service> {
  const service = await openService(options)
  try {
    return await compose(service)
  } catch (error) {
    await service.close()
    throw error
  }
}

async function openService(options: ServiceOptions): Promise<OpenService> {
  const { name, logLevel, errors = standardErrorPolicy, failedCheckLevel = 'warn' } = options
  const logger = createLogger({ service: name, level: logLevel })
  const { onClose, close } = createLifetime(logger)
  const metrics = createServiceMetrics(name)
  const { registry } = metrics
  const readiness = createReadiness({
    checks: [],
    onFailure: (check, error) => logger[failedCheckLevel]({ check, err: error }, 'readiness check failed'),
  })
  const opsListener = createOpsListener({ logger, errors, registry, readiness })
  onClose('operations', 'ops listener', () => opsListener.close())
  const tracing = await openTracing(options.tracing, { service: name, registry, log: logger })
  onClose('operations', 'traces', () => tracing?.close())
  const check = (added: ReadinessCheck) => readiness.addCheck(added)
  return { logger, metrics, tracing, readiness, check, opsListener, onClose, close }
}

/** A listener that is made and not open yet. */
type Listener = {
  readonly app: HttpApp
  readonly at: { readonly host: string; readonly port: number }
  /** The variable that names its port. */
  readonly setting: string
}

/** Opens all listeners. If one cannot be opened, closes the whole service. @returns their URLs */
export async function openListeners<Name extends string>(
  { close }: Pick<Lifetime, 'close'>,
  listeners: Readonly<Record<Name, Listener>>,
): Promise<Readonly<Record<Name, string>>> {
  try {
    const opening = Object.entries<Listener>(listeners).map(
      async ([name, { app, at, setting }]) => [name, await openListener(app, at, setting)] as const,
    )
    // CAST: the names of `listeners`.
    return Object.fromEntries(await Promise.all(opening)) as Record<Name, string>
  } catch (error) {
    await close()
    throw error
  }
}
