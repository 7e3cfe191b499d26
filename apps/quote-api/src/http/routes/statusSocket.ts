import { bytes32Text, DomainError, type Hex } from '@causeway/core'
import type { OpenSocket, SocketSession, WebsocketRoute } from '@causeway/http'
import { z } from 'zod'
import type { StatusRecord } from '../../requests/status/requestStatus.ts'
import { isEnd, type StatusFeed } from '../../requests/status/statusFeed.ts'
import { statusToV3 } from '../../requests/status/statusWire.ts'

/** The one event there is so far. @source rule L-84 */
const statusEvent = 'request.status.updated'

const messageSchema = z.object({
  type: z.enum(['subscribe', 'unsubscribe']),
  event: z.literal(statusEvent),
  filters: z.object({ id: bytes32Text }),
})

/** Requests that one socket follows at once. */
const subscriptionsMax = 100

/** A socket follows as many requests as one may. */
class TooManySubscriptionsError extends DomainError {
  readonly code = 'TOO_MANY_SUBSCRIPTIONS'
  readonly kind = 'rate_limited'

  constructor() {
    super(`A socket follows at most ${subscriptionsMax} requests.`)
  }
}

/**
 * GET /intents/status/ws: pushes statuses of requests to callers who know their ids, in the form of status v3.
 * Needs no key. A subscription to an unknown id is acknowledged like any other, and no status follows.
 * @source rules L-84, L-85
 */
export function statusSocket(feed: Pick<StatusFeed, 'follow'>, now: () => number): WebsocketRoute {
  return {
    path: '/intents/status/ws',
    rateLimitClass: 'status',
    open: (socket) => openSession(socket, feed, now),
  }
}

function openSession(socket: OpenSocket, feed: Pick<StatusFeed, 'follow'>, now: () => number): SocketSession {
  const followed = new Map<Hex, { stop(): void }>()
  const refuse = (code: string, message: string) => socket.send({ type: 'error', data: { code, message } })
  const drop = (id: Hex) => {
    followed.get(id)?.stop()
    followed.delete(id)
  }
  const follow = (id: Hex) => {
    // A repeated subscription is answered with the current status again.
    drop(id)
    const following = feed.follow(id, (record) => {
      socket.send(statusMessage(id, record, now()))
      // Dropped later, because `follow` may call back before `following` is set; a newer subscription stays.
      if (isEnd(record)) queueMicrotask(() => followed.get(id) === following && drop(id))
    })
    followed.set(id, following)
  }
  const takeMessage = ({ type, event, filters }: z.output<typeof messageSchema>) => {
    const { id } = filters
    if (type === 'subscribe' && !followed.has(id) && followed.size >= subscriptionsMax) {
      const { code, message } = new TooManySubscriptionsError()
      return refuse(code, message)
    }
    if (type === 'unsubscribe') drop(id)
    // Acknowledged first, because `follow` may send the current status at once.
    socket.send({ type, status: 'success', data: { event, filters } })
    if (type === 'subscribe') follow(id)
  }
  let isClosed = false

  socket.send({ type: 'connection', status: 'ready', data: { id: socket.id } })
  return {
    isIdle: () => followed.size === 0,
    onClose() {
      isClosed = true
      for (const id of [...followed.keys()]) drop(id)
    },
    async onMessage(received) {
      const isAllowed = await socket.count()
      if (isClosed) return
      if (!isAllowed) return refuse('RATE_LIMITED', 'Rate limit exceeded.')
      if ('problem' in received) return refuse('INVALID_REQUEST', received.problem)
      const parsed = messageSchema.safeParse(received.json)
      if (!parsed.success) return refuse('INVALID_REQUEST', describeProblem(parsed.error))
      takeMessage(parsed.data)
    },
  }
}

/** Names the member that is wrong, and repeats nothing that was sent. */
function describeProblem(error: z.ZodError): string {
  const path = error.issues[0]?.path.join('.') ?? ''
  return `${path === '' ? 'The message' : `\`${path}\``} is not what a subscription needs.`
}

/** Message pushed to a follower. @source rule L-84 */
function statusMessage(requestId: Hex, record: StatusRecord, publishedAt: number): object {
  const { status, inTxHashes, txHashes, updatedAt, originChainId, destinationChainId } = statusToV3(record)
  return {
    event: statusEvent,
    data: { status, inTxHashes, txHashes, updatedAt, originChainId, destinationChainId, requestId },
    publishedAt,
  }
}
