import type { SqlDatabase } from '@causeway/core'
import type { ServiceParts } from '@causeway/service'
import type { OpenDatabase } from '../operate/database.ts'
import { createRequestStatuses } from '../requests/status/requestStatus.ts'
import { createStatusFeed, type StatusFeed } from '../requests/status/statusFeed.ts'
import { readOpenLanes } from '../requests/work/openWork.ts'
import { createWorkOffers, openWorkChannel, type WorkOffers } from '../requests/work/workOffers.ts'
import { statusChannel } from '../webhooks/announceStatus.ts'

/** Dependencies for notifications that other processes send through the shared database. */
type ListeningOptions = {
  readonly database: Pick<SqlDatabase, 'query'>
  readonly listen: OpenDatabase['listen']
}

/** Follows status changes by any process that shares the database. */
export function startStatusFeed(
  { logger, onClose }: ServiceParts<'listeners'>,
  { database, listen }: ListeningOptions,
): StatusFeed {
  const feed = createStatusFeed({
    statuses: createRequestStatuses({ database }),
    onFailure: (error) => logger.warn({ err: error }, 'a followed status was not read'),
  })
  const listening = listen({
    channel: statusChannel,
    onNotification: (requestId) => feed.changed(requestId),
    onConnected: () => feed.connected(),
    onLost(error) {
      feed.lost()
      logger.warn({ err: error }, 'status changes are not heard')
    },
  })
  onClose('listeners', 'status feed', () => {
    feed.close()
    return listening.close()
  })
  return feed
}

/** Follows work that any process which shares the database offers to solvers. */
export function startWorkOffers(
  { logger, onClose }: ServiceParts<'listeners'>,
  { database, listen }: ListeningOptions,
): WorkOffers {
  const offers = createWorkOffers({ read: (limit) => readOpenLanes(database, limit) })
  const listening = listen({
    channel: openWorkChannel,
    onNotification: offers.changed,
    // Work that was offered while nobody listened was not heard of.
    onConnected: offers.changed,
    onLost: (error) =>
      logger.warn({ err: error }, 'offered work is not heard of: it is looked for by the clock'),
  })
  onClose('listeners', 'work offers', () => listening.close())
  return offers
}
