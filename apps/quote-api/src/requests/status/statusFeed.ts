import type { Hex } from '@causeway/core'
import { endStatuses } from './requestProgress.ts'
import { type RequestStatuses, type StatusRecord, UnknownRequestError } from './requestStatus.ts'

/** Receives each status that differs from the one before. */
type OnStatus = (record: StatusRecord) => void

/**
 * Pushes statuses to the many clients that follow requests by a stream. The database announces changes; a changed request is
 * read once for all of its listeners.
 */
export interface StatusFeed {
  /** Calls `onStatus` with the current status and with each later one; never for an unknown request id. */
  follow(requestId: Hex, onStatus: OnStatus): { stop(): void }
  /** To be called when the database announces a change of a request. */
  changed(requestId: string): void
  /** To be called when announcements begin to arrive; as some may have been missed, all requests are read. */
  connected(): void
  /** To be called when announcements no longer arrive, so that no known status can be relied on. */
  lost(): void
  close(): void
}

/** `told`: JSON of the status that the listener received last. */
type Listener = { readonly onStatus: OnStatus; told: string | undefined }
/**
 * A followed request. A change queues it, a free read takes it from the queue, and its listeners get what was
 * read. A change during the read makes it stale: it is queued again once the read ends. Without listeners it
 * is not read.
 */
type Topic = {
  readonly requestId: Hex
  readonly listeners: Set<Listener>
  /** Status that was read last; undefined once it may be outdated. */
  known: StatusRecord | undefined
  isQueued: boolean
  isReading: boolean
  /** True if it changed while it was read; the status that was read is told, but not kept as `known`. */
  isStale: boolean
}

const readsMax = 4

type StatusFeedOptions = {
  readonly statuses: RequestStatuses
  readonly onFailure: (error: unknown) => void
  /** Pause before a read that failed is tried again. Default 1 s. */
  readonly retryMs?: number
}

export const createStatusFeed = (options: StatusFeedOptions): StatusFeed => new SharedStatusFeed(options)

class SharedStatusFeed implements StatusFeed {
  readonly #options: StatusFeedOptions
  readonly #topics = new Map<string, Topic>()
  readonly #queue: Topic[] = []
  readonly #retries = new Set<NodeJS.Timeout>()
  #readCount = 0
  #isConnected = false

  constructor(options: StatusFeedOptions) {
    this.#options = options
  }

  follow(requestId: Hex, onStatus: OnStatus) {
    const topic = this.#topics.get(requestId) ?? {
      requestId,
      listeners: new Set(),
      known: undefined,
      isQueued: false,
      isReading: false,
      isStale: false,
    }
    this.#topics.set(requestId, topic)
    const listener: Listener = { onStatus, told: undefined }
    topic.listeners.add(listener)
    // A reading that runs tells all listeners, this one too.
    if (topic.known !== undefined) notify(listener, topic.known)
    else if (!topic.isReading) this.#enqueue(topic)
    return {
      stop: () => {
        topic.listeners.delete(listener)
        if (topic.listeners.size === 0 && this.#topics.get(requestId) === topic)
          this.#topics.delete(requestId)
      },
    }
  }

  changed(requestId: string): void {
    const topic = this.#topics.get(requestId)
    if (topic !== undefined) this.#enqueue(topic)
  }

  connected(): void {
    this.#isConnected = true
    for (const topic of this.#topics.values()) this.#enqueue(topic)
  }

  lost(): void {
    this.#isConnected = false
    for (const topic of this.#topics.values()) topic.known = undefined
  }

  close(): void {
    for (const timer of this.#retries) clearTimeout(timer)
    this.#topics.clear()
    this.#queue.length = 0
  }

  #enqueue(topic: Topic): void {
    topic.known = undefined
    // A request has one read at a time, so that an older answer never follows a newer one.
    topic.isStale = topic.isReading
    if (topic.isReading || topic.isQueued || topic.listeners.size === 0) return
    topic.isQueued = true
    this.#queue.push(topic)
    this.#startReads()
  }

  #startReads(): void {
    while (this.#readCount < readsMax) {
      const topic = this.#queue.shift()
      if (topic === undefined) return
      this.#readCount += 1
      void this.#read(topic).finally(() => {
        this.#readCount -= 1
        this.#startReads()
      })
    }
  }

  async #read(topic: Topic): Promise<void> {
    topic.isQueued = false
    if (topic.listeners.size === 0) return
    topic.isReading = true
    try {
      const record = await this.#options.statuses.read(topic.requestId)
      if (!topic.isStale && this.#isConnected) topic.known = record
      for (const listener of topic.listeners) notify(listener, record)
    } catch (error) {
      if (error instanceof UnknownRequestError) return
      this.#options.onFailure(error)
      this.#retryLater(topic)
    } finally {
      topic.isReading = false
      if (topic.isStale) this.#enqueue(topic)
    }
  }

  #retryLater(topic: Topic): void {
    const timer = setTimeout(() => {
      this.#retries.delete(timer)
      this.#enqueue(topic)
    }, this.#options.retryMs ?? 1_000)
    timer.unref()
    this.#retries.add(timer)
  }
}

function notify(listener: Listener, record: StatusRecord): void {
  const text = JSON.stringify(record)
  if (listener.told === text) return
  listener.told = text
  listener.onStatus(record)
}

/** True if a status is final. */
export function isEnd({ status }: StatusRecord): boolean {
  return endStatuses.has(status)
}
