import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

export type HostileClient = {
  /** Connections that it opened. */
  readonly socketCount: number
  stop(): void
}

/**
 * Attacks a service, for tests of its limits: sends the same request 700 times on one connection and resets it,
 * does not read answers, cuts requests off, and never sends bodies to their end. Resolves once all of that is sent;
 * connections that are not reset stay open until `stop`.
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
    // A service that defends itself resets connections.
    socket.on('error', () => {})
    socket.pause()
    await Promise.race([once(socket, 'connect'), once(socket, 'close')])
    socket.write(bytes)
    return socket
  }
  const openMany = (count: number, bytes: string) =>
    Promise.all(Array.from({ length: count }, () => open(bytes)))
  const get = (path: string) => `GET ${path} HTTP/1.1\r\nhost: ${hostname}\r\n\r\n`
  const post = `POST ${postPath} HTTP/1.1\r\nhost: ${hostname}\r\ncontent-type: application/json\r\n`

  const flooding = await openMany(20, get(getPath).repeat(700))
  const cutOff = await openMany(20, get(getPath).repeat(700).slice(0, -20))
  // Long answers, and as many short ones as one connection may be owed.
  await openMany(100, get('/documentation/static/swagger-ui-bundle.js').repeat(3))
  await openMany(100, get(getPath).repeat(16))
  // Bodies, and then headers, that do not end.
  await openMany(300, `${post}content-length: 500\r\n\r\n{"user":`)
  await openMany(100, post)
  for (const socket of flooding) socket.resetAndDestroy()
  for (const socket of cutOff) socket.end()
  return {
    socketCount: sockets.length,
    stop() {
      for (const socket of sockets) socket.destroy()
    },
  }
}
