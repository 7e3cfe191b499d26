import { spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freeLoopbackPort } from '@causeway/database'
import { waitUntil } from '@causeway/localnet'

export type PgBouncer = { readonly connectionString: string; stop(): Promise<void> }

/** PgBouncer before a server; `apt-get install pgbouncer` brings it. */
export async function startPgBouncer(
  serverUrl: string,
  { mode, clientsMax = 200 }: { readonly mode: string; readonly clientsMax?: number },
): Promise<PgBouncer> {
  const server = new URL(serverUrl)
  const port = await freeLoopbackPort()
  const directory = await mkdtemp(join(tmpdir(), 'causeway-pgbouncer-'))
  const file = join(directory, 'pgbouncer.ini')
  const { username, password } = server
  await writeFile(
    file,
    `[databases]
causeway = host=127.0.0.1 port=${server.port} dbname=causeway user=${username} password=${password}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = ${mode}
default_pool_size = 40
max_client_conn = ${clientsMax}
`,
  )
  // It refuses to run as root, and reads its file before it is somebody else.
  const identity = process.getuid?.() === 0 ? ['-u', 'nobody'] : []
  const child = spawn('/usr/sbin/pgbouncer', [...identity, file], { stdio: ['ignore', 'ignore', 'pipe'] })
  let output = ''
  child.stderr.on('data', (chunk: Buffer) => {
    output += chunk.toString()
  })
  let hasEnded = false
  const ended = new Promise<void>((resolve) => {
    const end = () => {
      hasEnded = true
      resolve()
    }
    child.once('close', end).once('error', (error) => {
      output += `${error.message}; apt-get install pgbouncer brings it`
      end()
    })
  })
  await waitUntil('PgBouncer listens', async () => {
    if (hasEnded) throw new Error(`PgBouncer did not start: ${output}`)
    return canConnect(port)
  })
  return {
    connectionString: Object.assign(new URL(serverUrl), { port: String(port) }).href,
    async stop() {
      child.kill('SIGTERM')
      await ended
      await rm(directory, { recursive: true, force: true })
    },
  }
}

function canConnect(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    socket.once('connect', () => socket.destroy())
  })
}
