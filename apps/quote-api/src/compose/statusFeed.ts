import type { SqlDatabase } from '@causeway/core'
import type { Logger } from 'pino'
import type { OpenDatabase } from '../operate/database.ts'
import { createRequestStatuses } from '../requests/status/requestStatus.ts'
import { createStatusFeed, type StatusFeed } from '../requests/status/statusFeed.ts'
import { statusChannel } from '../webhooks/announceStatus.ts'

/** Hears the status changes of every process that shares the database. */
export function startStatusFeed(options: {
  database: Pick<SqlDatabase, 'query'>
  listen: OpenDatabase['listen']
  logger: Logger
}): { readonly feed: StatusFeed; close(): Promise<void> } {
  const { database, listen, logger } = options
  const feed = createStatusFeed({
    statuses: createRequestStatuses({ database }),
    onFailure: (error) => logger.warn({ err: error }, 'a followed status was not read'),
  })
  const listening = listen({
    channel: statusChannel,
    onNotification: feed.changed,
    onConnected: feed.connected,
    onLost(error) {
      feed.lost()
      logger.warn({ err: error }, 'status changes are not heard')
    },
  })
  return {
    feed,
    async close() {
      feed.close()
      await listening.close()
    },
  }
}
