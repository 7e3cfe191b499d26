import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

export type HostileClient = {
  /** Connections that it opened. */
  readonly socketCount: number
  stop(): void
}

/**
 * One client that leaves everything undone: it sends the same request 700 times on one connection and
 * resets it, does not read, cuts requests in half and never sends the rest of its bodies. Resolves once
 * all of that is on its way; what is not reset stays as it is until `stop`.
 */
export async function startHostileClient(options: {
  /** Public address of a service. */
  url: string
  getPath: string
  postPath: string
}): Promise<HostileClient> {
  const { url, getPath, postPath } = options
  const { hostname, port } = new URL(url)
  const sockets: Socket[] = []
  const open = async (bytes: string): Promise<Socket> => {
    const socket = connect(Number(port), hostname)
    sockets.push(socket)
    // A service that defends itself resets.
    socket.on('error', () => {})
    socket.pause()
    await Promise.race([once(socket, 'connect'), once(socket, 'close')])
    socket.write(bytes)
    return socket
  }
  const many = (count: number, bytes: string) => Promise.all(Array.from({ length: count }, () => open(bytes)))
  const get = (path: string) => `GET ${path} HTTP/1.1\r\nhost: ${hostname}\r\n\r\n`
  const post = `POST ${postPath} HTTP/1.1\r\nhost: ${hostname}\r\ncontent-type: application/json\r\n`

  const flooding = await many(20, get(getPath).repeat(700))
  const cut = await many(20, get(getPath).repeat(700).slice(0, -20))
  await many(100, get('/documentation/static/swagger-ui-bundle.js').repeat(3))
  await many(100, get(getPath).repeat(16))
  await many(300, `${post}content-length: 500\r\n\r\n{"user":`)
  await many(100, post)
  for (const socket of flooding) socket.resetAndDestroy()
  for (const socket of cut) socket.end()
  return {
    socketCount: sockets.length,
    stop() {
      for (const socket of sockets) socket.destroy()
    },
  }
}
