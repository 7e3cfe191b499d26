import type { Server, ServerResponse } from 'node:http'
import { Socket } from 'node:net'

/** A request whose answer is not sent completely yet: an `Exchange`. */
export type Outstanding = {
  readonly raw: ServerResponse
  /** Ends the accounting of the request. Called when its socket is gone; may be called more than once. */
  settle(): void
}

/**
 * Why the server closed a connection. `pipelined`: the client sent one more request while `outstandingMax` answers were
 * outstanding. `stalled`: the client did not read what was sent to it.
 */
export const closedReasons = ['pipelined', 'stalled'] as const
export type ClosedBecause = (typeof closedReasons)[number]

type Connection = {
  readonly socket: Socket
  /** Oldest first: answers leave in this order. */
  readonly outstanding: Outstanding[]
  /** Bytes that were unsent at the last check for stalled clients. */
  pendingBytes: number
  /** Time of the last check, by `performance.now()`, at which they had changed or were none. */
  movedAtMs: number
}

type ConnectionLimits = {
  /** Answers that one connection may be owed at once. */
  readonly outstandingMax: number
  /** Time in which a client must take at least one byte of what waits for it. */
  readonly stalledTimeoutMs: number
}

/**
 * The open connections of one server, with the outstanding requests of each. Limits how many answers one
 * connection may wait for, and closes connections whose clients do not read. `registerTraffic` adds each
 * request once its headers are read, and removes it when it has ended. When a socket closes, all its requests
 * are settled.
 */
export class Connections {
  readonly #limits: ConnectionLimits
  readonly #open = new Set<Connection>()
  readonly #bySocket = new WeakMap<Socket, Connection>()
  /** Called when the server closes a connection for its client's behaviour. Set by `registerTraffic`. */
  onClosed: (reason: ClosedBecause) => void = () => {}
  /** Called when the listener begins to close. Set by `registerWebsocket`, to end websockets' connections. */
  onEnd: () => void = () => {}
  #acceptedCount = 0

  constructor(limits: ConnectionLimits) {
    this.#limits = limits
  }

  /** Follows every connection of a server from its first byte on, until the server is closed. */
  watch(server: Server): void {
    server.on('connection', (socket) => {
      this.#acceptedCount += 1
      this.#track(socket)
    })
    const intervalMs = Math.min(1_000, this.#limits.stalledTimeoutMs / 4)
    const timer = setInterval(() => this.#closeStalled(performance.now()), intervalMs)
    timer.unref()
    server.once('close', () => clearInterval(timer))
  }

  /** @returns false when the socket is gone, or had `outstandingMax` requests outstanding and is closed for this one */
  add(socket: Socket, outstanding: Outstanding): boolean {
    const connection = this.#bySocket.get(socket) ?? this.#track(socket)
    // Requests read together with the one that closed the socket are dropped.
    if (socket.destroyed) return false
    if (connection.outstanding.length >= this.#limits.outstandingMax) {
      this.#close(connection, 'pipelined')
      return false
    }
    connection.outstanding.push(outstanding)
    return true
  }

  remove(socket: Socket, outstanding: Outstanding): void {
    const list = this.#bySocket.get(socket)?.outstanding
    if (list === undefined) return
    if (list[0] === outstanding) list.shift()
    else if (list.includes(outstanding)) list.splice(list.indexOf(outstanding), 1)
  }

  /**
   * True if bytes written to the socket now cannot become part of another response: none has begun, and they
   * answer the only outstanding request, if there is one.
   */
  canAnswer(socket: Socket): boolean {
    const [first, second] = this.#bySocket.get(socket)?.outstanding ?? []
    return second === undefined && first?.raw.headersSent !== true
  }

  get openCount(): number {
    return this.#open.size
  }

  get acceptedCount(): number {
    return this.#acceptedCount
  }

  /** True if some client has connected and sent no byte yet. */
  get hasSilent(): boolean {
    for (const { socket } of this.#open) if (socket.bytesRead === 0) return true
    return false
  }

  /** Adds `connection: close` to every answer whose headers are not sent yet. */
  announceEnd(): void {
    for (const { outstanding } of this.#open) {
      for (const { raw } of outstanding) if (!raw.headersSent) raw.setHeader('connection', 'close')
    }
  }

  #track(socket: Socket): Connection {
    const connection = { socket, outstanding: [], pendingBytes: 0, movedAtMs: 0 }
    this.#bySocket.set(socket, connection)
    // A request that a test injects has a stand-in for a socket, which no timer can check.
    if (socket instanceof Socket) this.#open.add(connection)
    socket.once('close', () => {
      this.#open.delete(connection)
      this.#settle(connection)
    })
    return connection
  }

  /** The list is emptied first: settling a request calls `remove`. */
  #settle({ outstanding }: Connection): void {
    for (const each of outstanding.splice(0)) each.settle()
  }

  #close(connection: Connection, reason: ClosedBecause): void {
    this.onClosed(reason)
    connection.socket.destroy()
    this.#settle(connection)
  }

  #closeStalled(nowMs: number): void {
    for (const connection of this.#open) {
      const pendingBytes = countPendingBytes(connection.socket)
      if (pendingBytes === 0 || pendingBytes !== connection.pendingBytes) {
        connection.pendingBytes = pendingBytes
        connection.movedAtMs = nowMs
      } else if (nowMs - connection.movedAtMs >= this.#limits.stalledTimeoutMs) {
        this.#close(connection, 'stalled')
      }
    }
  }
}

/**
 * Bytes that the kernel has not accepted yet. `writableLength` counts a write in full until all of it is gone, so
 * progress within a write shows only in `writeQueueSize` of the socket's handle, which Node itself uses for timeouts.
 */
function countPendingBytes(socket: Socket): number {
  const handle: unknown = Reflect.get(socket, '_handle')
  const hasQueue = typeof handle === 'object' && handle !== null && 'writeQueueSize' in handle
  const queuedBytes = hasQueue && typeof handle.writeQueueSize === 'number' ? handle.writeQueueSize : 0
  return socket.writableLength + queuedBytes
}
