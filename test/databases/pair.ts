import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type EmbeddedPostgres, startEmbeddedPostgres } from '@causeway/database'

/** A primary whose commits wait until its standby has them on disk, under one address. */
export type Pair = {
  /** A server that the address leads to. */
  readonly connectionString: string
  /** Kills the primary with SIGKILL, and leads the address to the standby, which takes no writes yet. */
  killPrimary(): void
  /** Lets the standby take writes. */
  promote(): Promise<void>
  stop(): Promise<void>
}

/** The standby begins as a copy of the stopped primary's folder. */
export async function startPair(directory: string): Promise<Pair> {
  const [first, second] = [join(directory, 'first'), join(directory, 'second')]
  await (await startEmbeddedPostgres({ dataDirectory: first })).stop()
  await promisify(execFile)('cp', ['-a', first, second])
  await writeFile(
    join(first, 'cluster', 'postgresql.auto.conf'),
    `synchronous_standby_names = '*'\nsynchronous_commit = on\n`,
  )
  const primary = await startEmbeddedPostgres({ dataDirectory: first })
  const { password } = new URL(primary.connectionString)
  await writeFile(
    join(second, 'cluster', 'postgresql.auto.conf'),
    `primary_conninfo = 'host=127.0.0.1 port=${primary.port} user=causeway password=${password}'\n`,
  )
  await writeFile(join(second, 'cluster', 'standby.signal'), '')
  const standby = await startEmbeddedPostgres({ dataDirectory: second })
  const address = await startAddress(primary)
  return {
    connectionString: Object.assign(new URL(primary.connectionString), { port: String(address.port) }).href,
    killPrimary() {
      process.kill(primary.pid, 'SIGKILL')
      address.leadTo(standby)
    },
    async promote() {
      const [pid] = (await readFile(join(second, 'cluster', 'postmaster.pid'), 'utf8')).split('\n')
      await writeFile(join(second, 'cluster', 'promote'), '')
      process.kill(Number(pid), 'SIGUSR1')
    },
    async stop() {
      await address.close()
      await primary.stop()
      await standby.stop()
    },
  }
}

/** As an address that moves from host to host: connections that are open stay where they are. */
async function startAddress(first: EmbeddedPostgres) {
  let { port: target } = first
  const sockets = new Set<Socket>()
  const address = createServer((client) => {
    const upstream = connect(target, '127.0.0.1')
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket)
      socket
        .on('error', () => other.destroy())
        .on('close', () => {
          sockets.delete(socket)
          other.destroy()
        })
      socket.pipe(other)
    }
  })
  await new Promise<void>((resolve) => address.listen(0, '127.0.0.1', resolve))
  const listening = address.address()
  if (listening === null || typeof listening === 'string') throw new Error('the address has no port')
  return {
    port: listening.port,
    leadTo(server: EmbeddedPostgres) {
      target = server.port
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => address.close(resolve))
    },
  }
}
