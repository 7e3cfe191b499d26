import { createServer, type Server } from 'node:net'
import { freeLoopbackPort } from '@causeway/database'
import { afterEach, describe, expect, it } from 'vitest'
import { nextFreePort, nextFreePorts } from './ports.ts'

const servers: Server[] = []

async function occupy(port: number, host: string): Promise<void> {
  const server = createServer()
  servers.push(server)
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => resolve())
  })
}

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => new Promise((resolve) => server.close(resolve))))
})

describe('nextFreePort', () => {
  it.each(['127.0.0.1', '0.0.0.0'])('passes a port that somebody listens on at %s', async (host) => {
    const port = await freeLoopbackPort()
    expect(await nextFreePort(port)).toBe(port)
    await occupy(port, host)
    expect(await nextFreePort(port)).toBeGreaterThan(port)
  })

  it('passes ports that are spoken for', async () => {
    const port = await freeLoopbackPort()
    expect(await nextFreePort(port, new Set([port]))).toBeGreaterThan(port)
  })

  it('O-30: passes ports that clients cannot ask', async () => {
    expect(await nextFreePort(6_665)).toBeGreaterThan(6_669)
  })

  it('says so when there is none', async () => {
    await expect(nextFreePort(65_535, new Set([65_535]))).rejects.toThrow('no free port from 65535 on')
  })
})

describe('nextFreePorts', () => {
  it('never gives one port twice', async () => {
    const port = await freeLoopbackPort()
    const ports = await nextFreePorts([port, port, port])
    expect(new Set(ports).size).toBe(3)
  })
})
