import type { Server, ServerResponse } from 'node:http'
import { Socket } from 'node:net'

/** A request whose answer has not been sent to its end. */
export type Outstanding = {
  readonly raw: ServerResponse
  /** Ends its accounting. Called when its socket is gone; may be called more than once. */
  settle(): void
}

/** Why a connection was closed before its client had closed it. */
export const closedReasons = ['pipelined', 'stalled'] as const
export type ClosedBecause = (typeof closedReasons)[number]

type Connection = {
  readonly socket: Socket
  /** Oldest first: answers leave in this order. */
  readonly outstanding: Outstanding[]
  /** Bytes that wait to be sent, when last looked at. */
  pendingBytes: number
  movedAtMs: number
}

type ConnectionLimits = {
  /** Answers that one connection may be owed at once. */
  readonly outstandingMax: number
  /** Time in which a client must take at least one byte of what waits for it. */
  readonly stalledTimeoutMs: number
}

/**
 * The connections of one server and what each is owed.
 *
 * Accounting ends with the socket, which ends all that is owed on it at once.
 */
export class Connections {
  readonly #limits: ConnectionLimits
  readonly #open = new Set<Connection>()
  readonly #bySocket = new WeakMap<Socket, Connection>()
  /** Told when a connection is closed for its client's behaviour. */
  onClosed: (reason: ClosedBecause) => void = () => {}
  /** Told when the listener begins to close: what holds a connection for longer than an answer lets it go. */
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

  /** @returns false when the socket is gone, or is owed so much already that it was closed for asking */
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

  /** True if bytes written to the socket now cannot become part of another response. */
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

  /** True if some connection has not received a byte yet. */
  get hasSilent(): boolean {
    for (const { socket } of this.#open) if (socket.bytesRead === 0) return true
    return false
  }

  /** Answers that have not begun to leave tell their clients that the connection ends with them. */
  announceEnd(): void {
    for (const { outstanding } of this.#open) {
      for (const { raw } of outstanding) if (!raw.headersSent) raw.setHeader('connection', 'close')
    }
  }

  #track(socket: Socket): Connection {
    const connection = { socket, outstanding: [], pendingBytes: 0, movedAtMs: 0 }
    this.#bySocket.set(socket, connection)
    // An injected request has no socket that could be looked after.
    if (socket instanceof Socket) this.#open.add(connection)
    socket.once('close', () => {
      this.#open.delete(connection)
      this.#settle(connection)
    })
    return connection
  }

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
 * Bytes that the kernel has not taken. The stream counts a write as a whole until all of it is gone, so
 * what is left of the one under way is asked of its handle, where Node itself looks for progress.
 */
function countPendingBytes(socket: Socket): number {
  const handle: unknown = Reflect.get(socket, '_handle')
  const hasQueue = typeof handle === 'object' && handle !== null && 'writeQueueSize' in handle
  const queuedBytes = hasQueue && typeof handle.writeQueueSize === 'number' ? handle.writeQueueSize : 0
  return socket.writableLength + queuedBytes
}
