import {
  createOpsListener,
  type HttpApp,
  type HttpMetrics,
  openListener,
  type Readiness,
  standardErrorPolicy,
} from '@causeway/http'
import type { Closer } from '@causeway/service'
import type { Logger } from 'pino'
import type { OracleConfig } from './config.ts'

export type Oracle = {
  /** The public listener. */
  readonly app: HttpApp
  /** Lower-case address that signs. */
  readonly signer: string
  readonly logger: Logger
  readonly readiness: Readiness
  /** Opens all listeners, or none: when one cannot be opened, everything is closed. */
  listen(): Promise<ListenAddresses>
  /** In the order in which they must be closed. */
  readonly closers: readonly Closer[]
  /** Closes everything in that order, without draining first. */
  close(): Promise<void>
}

export type ListenAddresses = { readonly publicUrl: string; readonly opsUrl: string }

type Listening = Pick<Oracle, 'app' | 'logger' | 'readiness' | 'signer'> & {
  readonly config: OracleConfig
  readonly httpMetrics: HttpMetrics
  /** What requests use; closed when no listener takes any more. */
  readonly used: readonly Closer[]
}

/** The service with its listeners and the order in which all of it is closed. */
export function createListeners(parts: Listening): Oracle {
  const { app, config, logger, readiness, signer, httpMetrics, used } = parts
  const { registry } = httpMetrics
  const opsListener = createOpsListener({ logger, errors: standardErrorPolicy, registry, readiness })
  const closers: readonly Closer[] = [
    { name: 'public listener', close: () => app.close() },
    ...used,
    { name: 'ops listener', close: () => opsListener.close() },
  ]
  const close = async () => {
    for (const closer of closers) await closer.close()
  }
  return {
    app,
    signer,
    logger,
    readiness,
    closers,
    close,
    async listen() {
      try {
        const [publicUrl, opsUrl] = await Promise.all([
          openListener(app, config.http, 'HTTP_PORT'),
          openListener(opsListener, config.ops, 'OPS_PORT'),
        ])
        return { publicUrl, opsUrl }
      } catch (error) {
        await close()
        throw error
      }
    },
  }
}
