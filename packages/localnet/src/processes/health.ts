import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Answers `GET /ready` with 200 while the process works, and `GET /health` with what it does. */
export async function startHealth(
  port: number,
  health: () => object,
): Promise<{ readonly port: number; stop(): Promise<void> }> {
  const server = createServer((request, response) => {
    const isKnown = request.method === 'GET' && (request.url === '/ready' || request.url === '/health')
    response.statusCode = isKnown ? 200 : 404
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(isKnown ? health() : { message: 'Not found.' }))
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', resolve)
  })
  return { port: portOf(server), stop: () => closeServer(server) }
}

function portOf(server: Server): number {
  // CAST: a server that listens on a port has an address of this shape.
  return (server.address() as AddressInfo).port
}

function closeServer(server: Server): Promise<void> {
  server.closeAllConnections()
  return new Promise((resolve) => server.close(() => resolve()))
}
