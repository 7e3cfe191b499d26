import { createServer } from 'node:net'

/** A port that was free a moment ago on the loopback interface. */
export async function freeLoopbackPort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      if (typeof address !== 'object' || address === null) return reject(new Error('no address'))
      server.close(() => resolve(address.port))
    })
  })
}
