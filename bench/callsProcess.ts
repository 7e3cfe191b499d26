// Calls that one tree's quote-api makes to each chain when nobody asks it anything: the market and every follower, over stand-ins of
// all families. It is copied into another tree, so it imports only what both have. Prints calls a second by variable.
import { spawn } from 'node:child_process'
import { createServer, type Server } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { startTestDatabase } from '@causeway/database'
import { startFamilyChains } from './startFamilyChains.ts'

const seconds = Number(process.argv[2])
const warmUpSeconds = Number(process.argv[3])
const counts = new Map<string, number>()

/** A server before an endpoint that counts each call of JSON-RPC, and each other request as one. */
async function counting(
  name: string,
  target: string,
): Promise<{ readonly url: string; readonly server: Server }> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', async () => {
      const body = Buffer.concat(chunks)
      const calls = body.length > 0 ? body.toString().split('"jsonrpc"').length - 1 : 0
      counts.set(name, (counts.get(name) ?? 0) + Math.max(calls, 1))
      try {
        const answer = await fetch(`${target.replace(/\/$/, '')}${request.url === '/' ? '' : request.url}`, {
          method: request.method ?? 'GET',
          ...(body.length > 0 && { body }),
          headers: { 'content-type': request.headers['content-type'] ?? 'application/json' },
        })
        response.writeHead(answer.status).end(Buffer.from(await answer.arrayBuffer()))
      } catch {
        response.destroy()
      }
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  return { url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`, server }
}

const chains = await startFamilyChains()
const database = await startTestDatabase()
const environment: Record<string, string> = {}
const servers: Server[] = []
for (const [name, value] of Object.entries(chains.environment)) {
  environment[name] = value
  if (!/^http:\/\/127\.0\.0\.1:\d+\/?$/.test(value)) continue
  const { url, server } = await counting(name, value)
  environment[name] = url
  servers.push(server)
}
// As `npm run causeway -- quote-api` starts it: what it needs is built first.
const words = ['scripts/run.mjs', 'apps/quote-api/src/main.ts']
const service = spawn(process.execPath, words, {
  cwd: fileURLToPath(new URL('..', import.meta.url)),
  env: {
    ...process.env,
    ...environment,
    DATABASE_URL: database.connectionString,
    SOLVER_API_KEY: 'solver-key-of-the-bench',
  },
  stdio: ['ignore', 'ignore', 'inherit'],
})
// A cold start bundles first.
while (counts.size === 0 && service.exitCode === null) await pause(1_000)
await pause(warmUpSeconds * 1_000)
if (service.exitCode !== null) throw new Error(`the service ended with ${service.exitCode}`)
counts.clear()
await pause(seconds * 1_000)
console.log(JSON.stringify(Object.fromEntries([...counts].map(([name, calls]) => [name, calls / seconds]))))
service.kill('SIGTERM')
for (const server of servers) {
  server.closeAllConnections()
  server.close()
}
await database.stop()
await chains.stop()
process.exit(0)
