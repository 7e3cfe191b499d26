import { resolve } from 'node:path'
import { readPassword } from './initialise.ts'
import { findRunningServer, readOwner } from './owner.ts'
import { connectWhenUp, embeddedConnectionString } from './superuserConnection.ts'

const pollMs = 50

/**
 * Connection string of the embedded server that another live process runs in this directory, so that a command can use
 * the service's database; waits while the server starts. `undefined` when no process runs one: then the command may
 * call `startEmbeddedPostgres`.
 * @throws Error when the server does not answer within `timeoutMs` (default 30 s)
 */
export async function findEmbeddedPostgres(options: {
  dataDirectory: string
  timeoutMs?: number
}): Promise<string | undefined> {
  const dataDirectory = resolve(options.dataDirectory)
  const deadline = performance.now() + (options.timeoutMs ?? 30_000)
  while (performance.now() < deadline) {
    const owner = await readOwner(dataDirectory)
    if (owner?.isAlive !== true) return undefined
    const server = await findRunningServer(dataDirectory)
    if (server !== undefined) {
      const password = await readPassword(dataDirectory)
      const connectionString = embeddedConnectionString({ port: server.port, password })
      const client = await connectWhenUp(connectionString)
      await client?.end()
      if (client !== undefined) return connectionString
    }
    await new Promise((wake) => setTimeout(wake, pollMs))
  }
  throw new Error(`the database in ${dataDirectory} is owned by a running process and does not answer`)
}
