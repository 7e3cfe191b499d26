import type { HeadSubscription, Secret } from '@causeway/core'
import { WebSocket } from 'ws'

/** Why a subscription ended. `silent`: no sign of life; `flood`: more messages than blocks can be. */
export type PushEnd = 'closed' | 'unreachable' | 'silent' | 'refused' | 'flood'

export type HeadPushOptions = {
  /** Websocket URLs; each endpoint that tells of a new block triggers `onHead`. */
  readonly urls: readonly Secret[]
  readonly subscription: HeadSubscription
  /** Minimum milliseconds between two heads of one endpoint; heads in between are ignored. */
  readonly leastMs: number
  /** Called when there may be a new block. The push itself is not trusted: the listener asks by agreement. */
  readonly onHead: () => void
  /** Called when an endpoint's subscription begins (`end` undefined), and when it ends. */
  readonly onChange: (endpoint: string, end: PushEnd | undefined) => void
}

export type HeadPushes = { close(): void }

const limits = {
  /** A head is under 3 kB; rollups with long blooms and extra data stay under 8. */
  messageBytesMax: 16 * 1024,
  handshakeMs: 5_000,
  /** Interval of pings; after two without any message the connection counts as dead. */
  pingMs: 20_000,
  /** The fastest chains make five blocks a second. */
  messagesMax: 200,
  messagesWindowMs: 10_000,
  firstPauseMs: 1_000,
  pauseMaxMs: 60_000,
  /** After a refusal or a flood, since the endpoint will probably do the same again. */
  longPauseMs: 600_000,
}

/**
 * Subscribes to new heads at several endpoints, so that a new block is read at once and not only at the next interval.
 * A connection that ends is opened again after a pause, which grows while it fails; callers never wait for it. The
 * worst that an endpoint can do is to have the chain read once every `leastMs`.
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

/** Keeps one endpoint subscribed until it is closed. */
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

  const report = (end: PushEnd | undefined) => {
    if (reported === (end ?? 'live')) return
    reported = end ?? 'live'
    onChange(alias, end)
  }

  const connect = () => {
    socket = subscribe(url, {
      ...terms,
      onLive: () => report(undefined),
      onHead() {
        pauseMs = limits.firstPauseMs
        onHead()
      },
      onEnd(end) {
        if (isClosed) return
        report(end)
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
  const noteMessage = watchLife(socket, stop)
  socket.on('open', () => {
    end = 'closed'
    socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }))
  })
  socket.on('message', (data, isBinary) => {
    const nowMs = noteMessage()
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
  // The event `close` follows and reports the end.
  socket.on('error', () => {})
  socket.on('close', () => onEnd(end))
  return socket
}

/**
 * Ends a connection that shows no sign of life, or sends too much. @returns a function to call for each message, which
 * returns the time
 */
function watchLife(socket: WebSocket, stop: (why: PushEnd) => void): () => number {
  let lastMessageAtMs = performance.now()
  let window = { sinceMs: lastMessageAtMs, messages: 0 }
  const noteMessage = () => {
    lastMessageAtMs = performance.now()
    const isOver = lastMessageAtMs - window.sinceMs > limits.messagesWindowMs
    window = isOver ? { sinceMs: lastMessageAtMs, messages: 1 } : { ...window, messages: window.messages + 1 }
    if (window.messages > limits.messagesMax) stop('flood')
    return lastMessageAtMs
  }
  const beat = setInterval(() => {
    if (performance.now() - lastMessageAtMs > 2 * limits.pingMs) stop('silent')
    else if (socket.readyState === WebSocket.OPEN) socket.ping()
  }, limits.pingMs)
  beat.unref()
  socket.on('pong', noteMessage)
  socket.on('ping', noteMessage)
  socket.on('close', () => clearInterval(beat))
  return noteMessage
}

type Meaning = 'head' | 'subscribed' | 'refusal' | 'nothing'

/** Meaning of a message. Subscriptions have a number as their id in some families, and a text in others. */
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
