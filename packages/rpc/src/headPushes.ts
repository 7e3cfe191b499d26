import type { HeadSubscription, Secret } from '@causeway/core'
import { WebSocket } from 'ws'

/** Why an endpoint tells of no blocks now. */
export type PushEnd = 'closed' | 'unreachable' | 'silent' | 'refused' | 'flood'

export type HeadPushOptions = {
  /** One voice or several: each that tells of a block counts, since agreement needs more than one to have it. */
  readonly urls: readonly Secret[]
  readonly subscription: HeadSubscription
  /** Minimum milliseconds between two heads of one endpoint; heads in between are ignored. */
  readonly leastMs: number
  /** There may be a new block. The push itself is not trusted: the listener asks by agreement. */
  readonly onHead: () => void
  /** Told when an endpoint begins to tell of blocks (`end` undefined), and when it stops. Never with what it sent. */
  readonly onChange: (endpoint: string, end: PushEnd | undefined) => void
}

export type HeadPushes = { close(): void }

const limits = {
  /** A head is under 3 kB; rollups with long blooms and extra data stay under 8. */
  messageBytesMax: 16 * 1024,
  handshakeMs: 5_000,
  /** Ping, and after two of them without a word the connection is taken for dead. */
  pingMs: 20_000,
  /** The fastest chains make five blocks a second. */
  messagesMax: 200,
  messagesWindowMs: 10_000,
  firstPauseMs: 1_000,
  pauseMaxMs: 60_000,
  /** After a refusal or a flood: it will do the same again. */
  longPauseMs: 600_000,
}

/**
 * Subscribes to the new heads of several endpoints, so that a block is looked at when it is there and not at the next
 * turn of a clock. A connection that ends is made again, ever later while it fails; nobody waits for any.
 * An endpoint can at worst have its chain looked at once in `leastMs`.
 */
export function openHeadPushes({ urls, ...terms }: HeadPushOptions): HeadPushes {
  const endpoints = urls.map((url, index) => followHeads(url, aliasOf(url, index + 1), terms))
  return {
    close() {
      for (const endpoint of endpoints) endpoint.close()
    },
  }
}

/** Host, port and position, as logs may show them: a path can hold a key. */
function aliasOf(url: Secret, position: number): string {
  return `${new URL(url.reveal()).host}#${position}`
}

function followHeads(
  url: Secret,
  alias: string,
  { onHead, onChange, ...terms }: Omit<HeadPushOptions, 'urls'>,
): HeadPushes {
  let isClosed = false
  /** Last reported state: a lasting outage is reported once. */
  let reported: PushEnd | 'live' | undefined
  let pauseMs = limits.firstPauseMs
  let socket: WebSocket | undefined
  let pausing: NodeJS.Timeout | undefined

  const tell = (end: PushEnd | undefined) => {
    if (reported === (end ?? 'live')) return
    reported = end ?? 'live'
    onChange(alias, end)
  }

  const connect = () => {
    socket = subscribe(url, {
      ...terms,
      onLive: () => tell(undefined),
      onHead() {
        pauseMs = limits.firstPauseMs
        onHead()
      },
      onEnd(end) {
        if (isClosed) return
        tell(end)
        const nextMs = end === 'refused' || end === 'flood' ? limits.longPauseMs : pauseMs
        pauseMs = Math.min(2 * pauseMs, limits.pauseMaxMs)
        pausing = setTimeout(connect, nextMs)
        pausing.unref()
      },
    })
  }

  connect()
  return {
    close() {
      isClosed = true
      clearTimeout(pausing)
      socket?.terminate()
    },
  }
}

type Subscriber = Pick<HeadPushOptions, 'subscription' | 'leastMs' | 'onHead'> & {
  readonly onLive: () => void
  readonly onEnd: (end: PushEnd) => void
}

/** One subscription over one connection, until that ends. */
function subscribe(url: Secret, { subscription, leastMs, onLive, onHead, onEnd }: Subscriber): WebSocket {
  const { method, params, notification } = subscription
  const socket = new WebSocket(url.reveal(), {
    handshakeTimeout: limits.handshakeMs,
    maxPayload: limits.messageBytesMax,
    // A compressed message of a few bytes could unpack to gigabytes.
    perMessageDeflate: false,
    followRedirects: false,
  })
  let end: PushEnd = 'unreachable'
  let isLive = false
  let headAtMs = Number.NEGATIVE_INFINITY
  const stop = (why: PushEnd) => {
    end = why
    socket.terminate()
  }
  const hear = watchLife(socket, stop)
  socket.on('open', () => {
    end = 'closed'
    socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }))
  })
  socket.on('message', (data, isBinary) => {
    const nowMs = hear()
    if (end === 'flood') return
    // Heads that would be ignored are not parsed.
    if (isLive && nowMs - headAtMs < leastMs) return
    const meaning = isBinary ? 'nothing' : meaningOf(String(data), notification)
    if (meaning === 'refusal') stop('refused')
    else if (meaning === 'subscribed') {
      isLive = true
      onLive()
    } else if (meaning === 'head' && isLive) {
      headAtMs = nowMs
      onHead()
    }
  })
  // Its end is told by `close`, which follows.
  socket.on('error', () => {})
  socket.on('close', () => onEnd(end))
  return socket
}

/** Whatever comes is a sign of life, and too much of anything a flood. @returns told of each message; when it came */
function watchLife(socket: WebSocket, stop: (why: PushEnd) => void): () => number {
  let heardAtMs = performance.now()
  let window = { sinceMs: heardAtMs, messages: 0 }
  const hear = () => {
    heardAtMs = performance.now()
    const isOver = heardAtMs - window.sinceMs > limits.messagesWindowMs
    window = isOver ? { sinceMs: heardAtMs, messages: 1 } : { ...window, messages: window.messages + 1 }
    if (window.messages > limits.messagesMax) stop('flood')
    return heardAtMs
  }
  const beat = setInterval(() => {
    if (performance.now() - heardAtMs > 2 * limits.pingMs) stop('silent')
    else if (socket.readyState === WebSocket.OPEN) socket.ping()
  }, limits.pingMs)
  beat.unref()
  socket.on('pong', hear)
  socket.on('ping', hear)
  socket.on('close', () => clearInterval(beat))
  return hear
}

type Meaning = 'head' | 'subscribed' | 'refusal' | 'nothing'

/** Families number their subscriptions, or name them. */
function meaningOf(text: string, notification: string): Meaning {
  let message: unknown
  try {
    message = JSON.parse(text)
  } catch {
    return 'nothing'
  }
  if (typeof message !== 'object' || message === null) return 'nothing'
  if ('method' in message) return message.method === notification ? 'head' : 'nothing'
  if (!('id' in message) || message.id !== 1) return 'nothing'
  if (!('result' in message)) return 'refusal'
  return ['string', 'number'].includes(typeof message.result) ? 'subscribed' : 'refusal'
}
