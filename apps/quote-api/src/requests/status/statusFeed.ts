import type { Hex } from '@causeway/core'
import { endStatuses } from './requestProgress.ts'
import { type RequestStatuses, type StatusRecord, UnknownRequestError } from './requestStatus.ts'

/** Told a status that differs from the one it was told before. */
type OnStatus = (record: StatusRecord) => void

/** Follows requests for many listeners: one read per changed request, and none without a change. */
export interface StatusFeed {
  /** Tells the current status, and each later one until the last; nothing of an id that no request has. */
  follow(requestId: Hex, onStatus: OnStatus): { stop(): void }
  /** A request changed. */
  changed(requestId: string): void
  /** Changes are told from now on, and some may have been missed before. */
  connected(): void
  /** Changes may be missed from now on. */
  lost(): void
  close(): void
}

type Listener = { readonly onStatus: OnStatus; told: string | undefined }
type Topic = {
  readonly requestId: Hex
  readonly listeners: Set<Listener>
  /** What was read last, while changes of it are heard. */
  known: StatusRecord | undefined
  isQueued: boolean
  isReading: boolean
  /** It changed while it was read. */
  isStale: boolean
}

const readsMax = 4

/** @param options.retryMs pause before a read that failed is tried again. Default 1 s */
export function createStatusFeed(options: {
  statuses: RequestStatuses
  onFailure: (error: unknown) => void
  retryMs?: number
}): StatusFeed {
  const { statuses, onFailure, retryMs = 1_000 } = options
  const topics = new Map<string, Topic>()
  const queue: Topic[] = []
  const retries = new Set<NodeJS.Timeout>()
  let reading = 0
  let isHeard = false

  const enqueue = (topic: Topic) => {
    topic.known = undefined
    // One read of a request at a time: an older answer never comes after a newer one.
    topic.isStale = topic.isReading
    if (topic.isReading || topic.isQueued || topic.listeners.size === 0) return
    topic.isQueued = true
    queue.push(topic)
    work()
  }
  const retryLater = (topic: Topic) => {
    const timer = setTimeout(() => {
      retries.delete(timer)
      enqueue(topic)
    }, retryMs)
    timer.unref()
    retries.add(timer)
  }
  const read = async (topic: Topic) => {
    topic.isQueued = false
    if (topic.listeners.size === 0) return
    topic.isReading = true
    try {
      const record = await statuses.read(topic.requestId)
      if (!topic.isStale && isHeard) topic.known = record
      for (const listener of topic.listeners) tell(listener, record)
    } catch (error) {
      if (error instanceof UnknownRequestError) return
      onFailure(error)
      retryLater(topic)
    } finally {
      topic.isReading = false
      if (topic.isStale) enqueue(topic)
    }
  }
  const work = () => {
    while (reading < readsMax) {
      const topic = queue.shift()
      if (topic === undefined) return
      reading += 1
      void read(topic).finally(() => {
        reading -= 1
        work()
      })
    }
  }

  return {
    follow(requestId, onStatus) {
      const topic = topics.get(requestId) ?? {
        ...{ requestId, listeners: new Set(), known: undefined },
        ...{ isQueued: false, isReading: false, isStale: false },
      }
      topics.set(requestId, topic)
      const listener: Listener = { onStatus, told: undefined }
      topic.listeners.add(listener)
      if (topic.known !== undefined) tell(listener, topic.known)
      else if (!topic.isReading) enqueue(topic)
      return {
        stop() {
          topic.listeners.delete(listener)
          if (topic.listeners.size === 0 && topics.get(requestId) === topic) topics.delete(requestId)
        },
      }
    },
    changed(requestId) {
      const topic = topics.get(requestId)
      if (topic !== undefined) enqueue(topic)
    },
    connected() {
      isHeard = true
      for (const topic of topics.values()) enqueue(topic)
    },
    lost() {
      isHeard = false
      for (const topic of topics.values()) topic.known = undefined
    },
    close() {
      for (const timer of retries) clearTimeout(timer)
      topics.clear()
      queue.length = 0
    },
  }
}

function tell(listener: Listener, record: StatusRecord): void {
  const text = JSON.stringify(record)
  if (listener.told === text) return
  listener.told = text
  listener.onStatus(record)
}

/** Whether a status is the last of its request. */
export function isEnd({ status }: StatusRecord): boolean {
  return endStatuses.has(status)
}
