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

/** Bounds of the sockets of one process. */
type SocketLimits = {
  readonly openMax: number
  /** Limit per key, or per address without a key (an IPv6 caller is its /64). */
  readonly perCallerMax: number
  /** A longer message is refused; one of four times the length closes the socket with 1009. */
  readonly messageBytesMax: number
  /** A client that lets more wait is cut. */
  readonly bufferedBytesMax: number
  /** A client that has not answered a ping by the next one is cut. */
  readonly pingIntervalMs: number
  /** A socket that asks for nothing is closed with 1000. */
  readonly idleMs: number
  /** Time to answer our closing before the connection is cut. */
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

/** A socket as a protocol sees it. */
export type OpenSocket = {
  readonly id: string
  /** Sends as JSON; nothing once the socket is closing. */
  send(message: object): void
  /** Counts against the caller's rate limit, as a request would. @returns false above it */
  count(): Promise<boolean>
}

/** Received message: JSON, or the problem with it. */
type Received = { readonly json: unknown } | { readonly problem: string }

export type SocketSession = {
  onMessage(received: Received): Promise<void>
  /** True if the socket can be closed without loss. */
  isIdle(): boolean
  onClose(): void
}

export type WebsocketRoute = {
  readonly path: string
  /** Class of opening a socket, and of `OpenSocket.count`. */
  readonly rateLimitClass: string
  readonly limits?: Partial<SocketLimits>
  open(socket: OpenSocket): SocketSession
}

type Surroundings = {
  readonly connections: Connections
  readonly readiness: Readiness
  readonly metrics: Pick<HttpMetrics, 'registry'>
  readonly count: CountOnce
}

type Held = {
  readonly socket: WebSocket
  readonly session: SocketSession
  readonly caller: string
  isAlive: boolean
  usedAtMs: number
}

const closeCodes = { idle: 1000, leaving: 1001, overloaded: 1013 } as const

/**
 * Takes websockets at one path, and an ordinary GET there with 400. Refuses one more than the bounds with 503,
 * pings, cuts those that do not answer or do not read, and closes all with 1001 before the listener closes.
 */
export async function registerWebsocket(
  app: HttpApp,
  route: WebsocketRoute,
  surroundings: Surroundings,
): Promise<void> {
  const limits = { ...defaultLimits, ...route.limits }
  await app.register(websocketPlugin, {
    options: { maxPayload: limits.messageBytesMax * 4, perMessageDeflate: false, clientTracking: false },
    // A protocol error of a client is its own fault; `ws` closes the socket.
    errorHandler: (_error, socket) => socket.terminate(),
    preClose: (done) => done(),
  })
  const sockets = new Sockets(limits, surroundings)
  surroundings.connections.onEnd = () => sockets.end()
  app.addHook('onClose', async () => sockets.end())
  app.route({
    method: 'GET',
    url: route.path,
    schema: {
      // An answer that goes on for ever is no operation of an interface description.
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
    // Node has let go of the connection, so nothing else closes it after a refusal, and a drain would wait for it.
    onResponse(request, _reply, done) {
      const isAsked = Reflect.get(request.raw, 'upgrade') === true
      if (isAsked && request.exchange?.isUpgraded !== true) request.raw.socket.destroySoon()
      done()
    },
    handler() {
      const message = 'This address takes websockets: send `upgrade: websocket`.'
      throw new RequestFailure('invalid_request', message, { field: 'upgrade' })
    },
    wsHandler: (socket, request) => sockets.hold(socket, request, route.open),
  })
}

/** The open sockets of an app. */
class Sockets {
  readonly #limits: SocketLimits
  readonly #surroundings: Surroundings
  readonly #held = new Set<Held>()
  readonly #perCaller = new Map<string, number>()
  readonly #closed: Counter<'reason'>
  readonly #timer: NodeJS.Timeout
  #isEnding = false

  constructor(limits: SocketLimits, surroundings: Surroundings) {
    this.#limits = limits
    this.#surroundings = surroundings
    this.#closed = watchSockets(surroundings.metrics, () => this.#held.size)
    this.#timer = setInterval(() => this.#beat(performance.now()), limits.pingIntervalMs)
    this.#timer.unref()
  }

  /** @returns why one more of this caller is not opened */
  refusalOf(request: FastifyRequest): RequestFailure | undefined {
    if (!this.#isEnding && !this.#surroundings.readiness.isDraining() && this.#hasRoom(callerOf(request)))
      return undefined
    this.#closed.inc({ reason: 'refused' })
    return new RequestFailure('overloaded', 'No more websockets are taken now.', { retryAfterSeconds: 5 })
  }

  hold(socket: WebSocket, request: FastifyRequest, open: WebsocketRoute['open']): void {
    request.exchange?.upgraded()
    const caller = callerOf(request)
    // Others may have come since it was asked.
    if (this.#isEnding || !this.#hasRoom(caller)) {
      this.#close(socket, 'overloaded')
      return
    }
    const session = open({
      id: randomUUID(),
      send: (message) => this.#send(socket, message),
      count: () => this.#surroundings.count(request),
    })
    const held: Held = { socket, session, caller, isAlive: true, usedAtMs: performance.now() }
    this.#held.add(held)
    this.#perCaller.set(caller, this.#countOf(caller) + 1)
    socket.on('pong', () => {
      held.isAlive = true
    })
    socket.on('message', (data, isBinary) => {
      const bytes = Buffer.isBuffer(data) ? data : Buffer.alloc(0)
      const received = readMessage(bytes, isBinary, this.#limits.messageBytesMax)
      // A session answers its own failures; what is left is a defect, and ends its socket alone.
      session.onMessage(received).catch((error: unknown) => {
        request.log.error({ err: error }, 'a websocket message failed')
        socket.terminate()
      })
    })
    socket.once('close', () => this.#release(held))
  }

  /** Takes no more, and closes those that are open. May be called again. */
  end(): void {
    if (this.#isEnding) return
    this.#isEnding = true
    clearInterval(this.#timer)
    for (const { socket } of this.#held) this.#close(socket, 'leaving')
  }

  #release(held: Held): void {
    this.#held.delete(held)
    const left = this.#countOf(held.caller) - 1
    if (left > 0) this.#perCaller.set(held.caller, left)
    else this.#perCaller.delete(held.caller)
    held.session.onClose()
  }

  #countOf(caller: string): number {
    return this.#perCaller.get(caller) ?? 0
  }

  #hasRoom(caller: string): boolean {
    return this.#held.size < this.#limits.openMax && this.#countOf(caller) < this.#limits.perCallerMax
  }

  #send(socket: WebSocket, message: object): void {
    if (socket.readyState !== socket.OPEN) return
    const text = JSON.stringify(message)
    if (socket.bufferedAmount + text.length > this.#limits.bufferedBytesMax) {
      // A closing frame would wait behind what is not read.
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

  #beat(nowMs: number): void {
    for (const held of this.#held) {
      if (!held.isAlive) {
        this.#closed.inc({ reason: 'silent' })
        held.socket.terminate()
        continue
      }
      if (!held.session.isIdle()) held.usedAtMs = nowMs
      if (nowMs - held.usedAtMs >= this.#limits.idleMs) this.#close(held.socket, 'idle')
      else {
        held.isAlive = false
        held.socket.ping()
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

function watchSockets({ registry }: Surroundings['metrics'], countOpen: () => number): Counter<'reason'> {
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
