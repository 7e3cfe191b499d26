import { type HttpApp, openListener } from '@causeway/http'
import type { Closer } from '@causeway/service'
import type { QuoteApiConfig } from '../config/config.ts'
import type { DatabaseWait } from '../operate/databaseWait.ts'

export type ListenAddresses = {
  readonly publicUrl: string
  readonly opsUrl: string
  readonly adminUrl: string
}

/** How the parts of a service are opened and closed. */
export type Listening = {
  /** Opens all listeners, or none: when one cannot be opened, everything is closed. */
  listen(): Promise<ListenAddresses>
  /** Closes everything in the order of the closers, without draining first. */
  close(): Promise<void>
}

export function createListening(options: {
  config: Pick<QuoteApiConfig, 'http' | 'ops' | 'admin'>
  /** Holds the ports where the database had to be waited for. */
  wait: DatabaseWait
  app: HttpApp
  opsListener: HttpApp
  adminListener: HttpApp
  closers: readonly Closer[]
}): Listening {
  const { config, wait, app, opsListener, adminListener, closers } = options
  const close = async () => {
    await wait.close()
    for (const closer of closers) await closer.close()
  }
  return {
    close,
    async listen() {
      try {
        await wait.close()
        const [publicUrl, opsUrl, adminUrl] = await Promise.all([
          openListener(app, config.http, 'HTTP_PORT'),
          openListener(opsListener, config.ops, 'OPS_PORT'),
          openListener(adminListener, config.admin, 'ADMIN_PORT'),
        ])
        return { publicUrl, opsUrl, adminUrl }
      } catch (error) {
        await close()
        throw error
      }
    },
  }
}
