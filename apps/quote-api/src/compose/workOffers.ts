import type { SqlDatabase } from '@causeway/core'
import type { Logger } from 'pino'
import type { OpenDatabase } from '../operate/database.ts'
import { createWorkOffers, openWorkChannel, type WorkOffers } from '../requests/work/workOffers.ts'
import { readOpenLanes } from '../requests/work/workStore.ts'

/** Hears of the work that any process offers which shares the database. */
export function startWorkOffers(options: {
  database: Pick<SqlDatabase, 'query'>
  listen: OpenDatabase['listen']
  logger: Logger
}): { readonly offers: WorkOffers; close(): Promise<void> } {
  const { database, listen, logger } = options
  const offers = createWorkOffers({ read: (limit) => readOpenLanes(database, limit) })
  const listening = listen({
    channel: openWorkChannel,
    onNotification: offers.changed,
    onConnected: offers.changed,
    onLost: (error) =>
      logger.warn({ err: error }, 'offered work is not heard of: it is looked for by the clock'),
  })
  return { offers, close: () => listening.close() }
}
