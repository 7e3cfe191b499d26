import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

/**
 * Range below the ephemeral ports (Linux: from 32768): an outgoing connection of this machine may take an
 * ephemeral port between the check and the port's use.
 */
const portRange = { from: 20_000, below: 32_768 } as const
const triesMax = 100

/** A loopback port that is free now. @throws Error when none is found */
export async function freeLoopbackPort(): Promise<number> {
  for (let tries = 0; tries < triesMax; tries += 1) {
    const port = randomInt(portRange.from, portRange.below)
    if (await canListen(port)) return port
  }
  throw new Error(`no free port in ${triesMax} tries from ${portRange.from} to ${portRange.below - 1}`)
}

/** True when nothing listens on that port of `host`. */
export async function canListen(port: number, host = '127.0.0.1'): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, host, () => server.close(() => resolve(true)))
  })
}
