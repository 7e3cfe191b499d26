import type { Server } from 'node:http'
import { Server as TcpServer } from 'node:net'
import type { Connections } from './connections.ts'

export type DrainLimits = {
  /** Time for connections that are still being accepted when the listener closes. */
  readonly acceptMs: number
  /** Time for the first request on a connection that was opened just before. */
  readonly firstRequestMs: number
  /** Then every connection is closed, whatever is owed on it. */
  readonly closeMs: number
}

/** Turns of the event loop without a new connection, after which the kernel has none waiting. */
const quietTurns = 3

/**
 * Ends a listener and loses no request that reached it: accepts what waits in the kernel, closes the
 * listener, reads what its connections have sent, answers it, and closes each connection when nothing is
 * owed on it any more. Node's own `close` resets connections whose requests it has not read yet.
 *
 * Requests can still be lost if they were never accepted, or were sent on a kept connection at the moment it was
 * closed, which HTTP permits to every server.
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
  // Only the listener: the HTTP server's own `close` would close connections with it.
  TcpServer.prototype.close.call(server)
  connections.announceEnd()
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

/** One turn polls the kernel once, and may accept a single connection. */
async function settleAccepts(connections: Connections, hasTime: () => boolean): Promise<void> {
  let acceptedCount = connections.acceptedCount
  for (let quiet = 0; quiet < quietTurns && hasTime(); quiet += 1) {
    await new Promise<void>((resolve) => setImmediate(resolve))
    if (connections.acceptedCount !== acceptedCount) quiet = 0
    acceptedCount = connections.acceptedCount
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
