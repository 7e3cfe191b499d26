import { randomUUID } from 'node:crypto'
import websocketPlugin from '@fastify/websocket'
import type { FastifyRequest } from 'fastify'
import { Counter, Gauge } from 'prom-client'
import type { WebSocket } from 'ws'
import { z } from 'zod'
import type { Connections } from './connections.ts'
import { errorResponses } from './errorBody.ts'
import { RequestFailure } from './failure.ts'
import type { HttpApp } from './fastifyTypes.ts'
import { parseJsonBody } from './json.ts'
import type { HttpMetrics } from './metrics.ts'
import { type CountOnce, callerOf } from './rateLimit.ts'
import type { Readiness } from './readiness.ts'

/** Limits of the websockets of one process. */
type SocketLimits = {
  /** Open sockets of all callers together. */
  readonly openMax: number
  /** Open sockets of one key, or of one address without a key (of IPv6 the /64). */
  readonly perCallerMax: number
  /** A longer message is answered with a problem; one of more than four times the length closes the socket with 1009. */
  readonly messageBytesMax: number
  /** A client that leaves more bytes unread is disconnected. */
  readonly bufferedBytesMax: number
  /** A client that has not answered a ping by the next one is disconnected. */
  readonly pingIntervalMs: number
  /** A socket whose session is idle for this long is closed with 1000. */
  readonly idleMs: number
  /** Time for the client to answer a close frame; then it is disconnected. */
  readonly closeGraceMs: number
}

const defaultLimits: SocketLimits = {
  openMax: 4_096,
  perCallerMax: 64,
  messageBytesMax: 4_096,
  bufferedBytesMax: 64 * 1024,
  pingIntervalMs: 20_000,
  idleMs: 60_000,
  closeGraceMs: 1_000,
}

/** One open websocket, as a session uses it. */
export type OpenSocket = {
  readonly id: string
  /** Sends the message as JSON. Does nothing once the socket is closing. */
  send(message: object): void
  /** Counts one request against the caller's rate limit. @returns false above the limit */
  count(): Promise<boolean>
}

/** Received message: JSON, or the problem with it. */
type Received = { readonly json: unknown } | { readonly problem: string }

/** The work of a route on one socket, such as following requests. */
export type SocketSession = {
  /** Called for each message as it comes, even while an earlier call runs. A rejection disconnects. */
  onMessage(received: Received): Promise<void>
  /** True if the client waits for nothing, so that the socket may be closed after `idleMs`. */
  isIdle(): boolean
  /** Called once, whoever closed the socket. */
  onClose(): void
}

export type WebsocketRoute = {
  readonly path: string
  /** Class of rate limits that opening a socket and `OpenSocket.count` count in. */
  readonly rateLimitClass: string
  readonly limits?: Partial<SocketLimits>
  open(socket: OpenSocket): SocketSession
}

/** Parts of the app that sockets use. */
type AppParts = {
  readonly connections: Connections
  readonly readiness: Readiness
  readonly metrics: Pick<HttpMetrics, 'registry'>
  readonly count: CountOnce
}

/** One open websocket with what this module knows of it. */
type Entry = {
  readonly socket: WebSocket
  readonly session: SocketSession
  readonly caller: string
  /** False from a ping until its pong. */
  isAlive: boolean
  /** Last time at which the session was not idle. */
  usedAtMs: number
}

const closeCodes = { idle: 1000, leaving: 1001, overloaded: 1013 } as const

/**
 * Adds a route that accepts websockets at one path; an ordinary GET there is refused with 400. Sockets above
 * the limits are refused with 503. Clients that do not answer pings or do not read are disconnected. A
 * service that stops refuses new sockets while it drains, and closes all open ones with 1001 before the
 * listener closes. An app has at most one such route, because `connections` tells one listener of the end.
 */
export async function registerWebsocket(
  app: HttpApp,
  route: WebsocketRoute,
  appParts: AppParts,
): Promise<void> {
  const limits = { ...defaultLimits, ...route.limits }
  await app.register(websocketPlugin, {
    options: { maxPayload: limits.messageBytesMax * 4, perMessageDeflate: false, clientTracking: false },
    // A client's protocol error is not logged: it is no fault of the service.
    errorHandler: (_error, socket) => socket.terminate(),
    // The plugin would close sockets itself here; `onEnd` does it before the listener closes.
    preClose: (done) => done(),
  })
  const sockets = new Sockets(limits, appParts)
  appParts.connections.onEnd = () => sockets.end()
  app.addHook('onClose', async () => sockets.end())
  app.route({
    method: 'GET',
    url: route.path,
    schema: {
      // OpenAPI cannot describe a websocket.
      hide: true,
      querystring: z.object({
        apiKey: z.string().max(256).optional().describe('An API key; none is needed'),
      }),
      response: { ...errorResponses },
    },
    config: { rateLimitClass: route.rateLimitClass, apiKeyInQuery: true },
    onRequest(request, _reply, done) {
      done(request.ws ? sockets.refusalOf(request) : undefined)
    },
    // For an upgrade request Node gives up control of the connection. After a refusal it must be closed here, because
    // otherwise it stays open, and a stopping service would wait for it.
    onResponse(request, _reply, done) {
      const isUpgradeRequest = Reflect.get(request.raw, 'upgrade') === true
      if (isUpgradeRequest && request.exchange?.isUpgraded !== true) request.raw.socket.destroySoon()
      done()
    },
    handler() {
      const message = 'This address takes websockets: send `upgrade: websocket`.'
      throw new RequestFailure('invalid_request', message, { field: 'upgrade' })
    },
    wsHandler: (socket, request) => sockets.accept(socket, request, route.open),
  })
}

/** The open sockets of an app. */
class Sockets {
  readonly #limits: SocketLimits
  readonly #appParts: AppParts
  readonly #entries = new Set<Entry>()
  readonly #perCaller = new Map<string, number>()
  readonly #closed: Counter<'reason'>
  readonly #timer: NodeJS.Timeout
  #isEnding = false

  constructor(limits: SocketLimits, appParts: AppParts) {
    this.#limits = limits
    this.#appParts = appParts
    this.#closed = watchSockets(appParts.metrics, () => this.#entries.size)
    this.#timer = setInterval(() => this.#checkAll(performance.now()), limits.pingIntervalMs)
    this.#timer.unref()
  }

  /** @returns why no socket is opened for this request, or undefined if one may be */
  refusalOf(request: FastifyRequest): RequestFailure | undefined {
    const isStopping = this.#isEnding || this.#appParts.readiness.isDraining()
    if (!isStopping && this.#hasRoom(callerOf(request))) return undefined
    this.#closed.inc({ reason: 'refused' })
    return new RequestFailure('overloaded', 'No more websockets are taken now.', { retryAfterSeconds: 5 })
  }

  /** Takes over a socket that was just opened, until it closes. */
  accept(socket: WebSocket, request: FastifyRequest, open: WebsocketRoute['open']): void {
    request.exchange?.upgraded()
    const caller = callerOf(request)
    // Checked again: other sockets may have been opened since `refusalOf`.
    if (this.#isEnding || !this.#hasRoom(caller)) {
      this.#close(socket, 'overloaded')
      return
    }
    const session = open({
      id: randomUUID(),
      send: (message) => this.#send(socket, message),
      count: () => this.#appParts.count(request),
    })
    const entry: Entry = { socket, session, caller, isAlive: true, usedAtMs: performance.now() }
    this.#entries.add(entry)
    this.#perCaller.set(caller, this.#countOf(caller) + 1)
    socket.on('pong', () => {
      entry.isAlive = true
    })
    socket.on('message', (data, isBinary) => {
      // With the default `binaryType` it always is a buffer; its type allows more.
      const bytes = Buffer.isBuffer(data) ? data : Buffer.alloc(0)
      const received = readMessage(bytes, isBinary, this.#limits.messageBytesMax)
      // A session reports failures to its client itself. A rejection is a bug, and ends only this socket.
      session.onMessage(received).catch((error: unknown) => {
        request.log.error({ err: error }, 'a websocket message failed')
        socket.terminate()
      })
    })
    socket.once('close', () => this.#release(entry))
  }

  /** Closes all sockets and accepts no more. May be called again. */
  end(): void {
    if (this.#isEnding) return
    this.#isEnding = true
    clearInterval(this.#timer)
    for (const { socket } of this.#entries) this.#close(socket, 'leaving')
  }

  #release(entry: Entry): void {
    this.#entries.delete(entry)
    const left = this.#countOf(entry.caller) - 1
    if (left > 0) this.#perCaller.set(entry.caller, left)
    else this.#perCaller.delete(entry.caller)
    entry.session.onClose()
  }

  #countOf(caller: string): number {
    return this.#perCaller.get(caller) ?? 0
  }

  #hasRoom(caller: string): boolean {
    return this.#entries.size < this.#limits.openMax && this.#countOf(caller) < this.#limits.perCallerMax
  }

  #send(socket: WebSocket, message: object): void {
    if (socket.readyState !== socket.OPEN) return
    const text = JSON.stringify(message)
    if (socket.bufferedAmount + text.length > this.#limits.bufferedBytesMax) {
      // Disconnects without a close frame, which would wait behind the unread bytes.
      this.#closed.inc({ reason: 'unread' })
      socket.terminate()
      return
    }
    socket.send(text)
  }

  #close(socket: WebSocket, reason: keyof typeof closeCodes): void {
    this.#closed.inc({ reason })
    socket.close(closeCodes[reason])
    const force = setTimeout(() => socket.terminate(), this.#limits.closeGraceMs)
    socket.once('close', () => clearTimeout(force))
  }

  /** Runs every `pingIntervalMs`: disconnects silent clients, closes idle sockets and pings the others. */
  #checkAll(nowMs: number): void {
    for (const entry of this.#entries) {
      if (!entry.isAlive) {
        this.#closed.inc({ reason: 'silent' })
        entry.socket.terminate()
        continue
      }
      if (!entry.session.isIdle()) entry.usedAtMs = nowMs
      if (nowMs - entry.usedAtMs >= this.#limits.idleMs) this.#close(entry.socket, 'idle')
      else {
        entry.isAlive = false
        entry.socket.ping()
      }
    }
  }
}

function readMessage(bytes: Buffer, isBinary: boolean, bytesMax: number): Received {
  if (isBinary) return { problem: 'Messages are text, not binary.' }
  if (bytes.length > bytesMax) return { problem: `A message has at most ${bytesMax} bytes.` }
  try {
    return { json: parseJsonBody(bytes.toString('utf8')) }
  } catch {
    return { problem: 'The message is not valid JSON.' }
  }
}

const closedReasons = ['refused', 'unread', 'silent', 'idle', 'leaving', 'overloaded'] as const

function watchSockets({ registry }: AppParts['metrics'], countOpen: () => number): Counter<'reason'> {
  new Gauge({
    name: 'websockets_open',
    help: 'Websockets of the public listener',
    registers: [registry],
    collect() {
      this.set(countOpen())
    },
  })
  const closed = new Counter({
    name: 'websockets_closed_total',
    help: 'Websockets refused or closed by the service',
    labelNames: ['reason'] as const,
    registers: [registry],
  })
  for (const reason of closedReasons) closed.inc({ reason }, 0)
  return closed
}
