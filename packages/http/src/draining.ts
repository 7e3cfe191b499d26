import type { Server } from 'node:http'
import { Server as TcpServer } from 'node:net'
import type { Connections } from './connections.ts'

/** Limits of closing a listener, each counted from the beginning of `drainConnections`. */
export type DrainLimits = {
  /** Until then connections that wait in the kernel are accepted. */
  readonly acceptMs: number
  /** Until then a new connection may send its first request. */
  readonly firstRequestMs: number
  /** Then every connection is closed, whether or not its requests are answered. */
  readonly closeMs: number
}

/** After this many turns of the event loop without a new connection, the kernel has none waiting. */
const quietTurns = 3

/**
 * Closes a listener without losing requests that reached it: accepts the connections that wait in the kernel, closes the
 * listener, reads and answers what its connections have sent, and closes each connection when it is idle. Node's own
 * `close` would reset connections whose requests it has not read yet.
 *
 * Two kinds of requests can still be lost: on connections that were never accepted, and on a kept-alive connection at
 * the moment it is closed, which HTTP permits.
 */
export async function drainConnections(
  server: Server,
  connections: Connections,
  limits: DrainLimits,
): Promise<void> {
  if (!server.listening) return
  connections.onEnd()
  const startedAtMs = performance.now()
  const elapsedMs = () => performance.now() - startedAtMs
  await settleAccepts(connections, () => elapsedMs() < limits.acceptMs)
  // Closes the listening socket alone: the HTTP server's own `close` would also close idle connections.
  TcpServer.prototype.close.call(server)
  connections.announceEnd()
  // Gives the event loop more turns, which read what open connections have sent before idle ones are closed.
  await settleAccepts(connections, () => elapsedMs() < limits.acceptMs)
  while (connections.hasSilent && elapsedMs() < limits.firstRequestMs) await pause(pollMs)
  while (connections.openCount > 0 && elapsedMs() < limits.closeMs) {
    server.closeIdleConnections()
    connections.announceEnd()
    await pause(pollMs)
  }
  server.closeAllConnections()
}

const pollMs = 10

/** Waits until no new connection has come for `quietTurns`: one turn of the event loop may accept just one. */
async function settleAccepts(connections: Connections, hasTime: () => boolean): Promise<void> {
  let acceptedCount = connections.acceptedCount
  for (let quiet = 0; quiet < quietTurns && hasTime(); ) {
    await new Promise<void>((resolve) => setImmediate(resolve))
    quiet = connections.acceptedCount === acceptedCount ? quiet + 1 : 0
    acceptedCount = connections.acceptedCount
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
