// Goal: whenever a service that ends is killed, what it acknowledged is kept, and what it had not ended by then still ends
// after the next start. Attackers: whoever kills a process that takes long to stop, at each stage of its end. Method: a
// process of its own over a real database and a real socket, under load, held at a stage and killed there.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createDatabase, type Database, startTestPostgres } from '@causeway/database'
import { type Stage, stages } from '@causeway/service'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'

let directory: string
let server: Awaited<ReturnType<typeof startTestPostgres>>
let database: Database
let chain: Server
const sockets = new Set<Socket>()
const running: ChildProcess[] = []

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'causeway-closing-'))
  server = await startTestPostgres({ dataDirectory: join(directory, 'postgres') })
  database = createDatabase({
    connectionString: server.connectionString,
    poolSize: 2,
    applicationName: 'closing-test',
    onConnectionLost: () => undefined,
  })
  await database.query(
    'create table placed_order (id text primary key, booked boolean not null default false)',
  )
  chain = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.on('data', () => socket.write('.'))
  }).listen(0, '127.0.0.1')
  await once(chain, 'listening')
})
beforeEach(() => database.query('delete from placed_order'))
afterEach(() => {
  for (const child of running.splice(0)) child.kill('SIGKILL')
})
afterAll(async () => {
  for (const socket of sockets) socket.destroy()
  chain?.close()
  await database?.close()
  await server?.stop()
  await rm(directory, { recursive: true, force: true })
})

type Line = { msg: string; publicUrl?: string; opsUrl?: string; closed?: Stage }

async function startService(holdAt?: Stage) {
  // CAST: a TCP listener has a TCP address.
  const { port: chainPort } = chain.address() as AddressInfo
  const settings = { databaseUrl: server.connectionString, chainPort, holdAt }
  const child = spawn(
    process.execPath,
    ['--conditions=source', join(import.meta.dirname, 'closingService.ts'), JSON.stringify(settings)],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  running.push(child)
  const lines: Line[] = []
  let rest = ''
  child.stdout.on('data', (chunk) => {
    const parts = (rest + String(chunk)).split('\n')
    rest = parts.pop() ?? ''
    lines.push(...parts.map((part) => JSON.parse(part)))
  })
  const saw = (msg: string) => lines.some((line) => line.msg === msg)
  await expect.poll(() => saw('listening'), { timeout: 30_000 }).toBe(true)
  const { publicUrl = '', opsUrl = '' } = lines.find(({ msg }) => msg === 'listening') ?? {}
  const closed = () => lines.flatMap((line) => (line.closed === undefined ? [] : [line.closed]))
  return { child, publicUrl, opsUrl, exited: once(child, 'exit'), lines, saw, closed }
}

/** Clients that place orders until the listener takes no more. @returns the acknowledged ids */
async function placeOrders(url: string, prefix: string): Promise<readonly string[]> {
  const acknowledged: string[] = []
  const client = async (name: string) => {
    for (let count = 0; ; count += 1) {
      const id = `${prefix}-${name}-${count}`
      const answer = await fetch(`${url}/orders/${id}`, { method: 'POST' }).catch(() => undefined)
      if (answer?.status !== 200) return
      const body: unknown = await answer.json().catch(() => undefined)
      if (JSON.stringify(body) !== JSON.stringify({ id })) return
      acknowledged.push(id)
    }
  }
  await Promise.all(['a', 'b', 'c', 'd', 'e', 'f'].map(client))
  return acknowledged
}

const stored = async (where: string) => {
  const rows = await database.query<{ id: string }>(`select id from placed_order where ${where}`)
  return new Set(rows.map(({ id }) => id))
}

test.each(stages)(
  'O-131: killed at the stage %s nothing acknowledged is lost, and no later stage had begun',
  async (stage) => {
    const service = await startService(stage)
    const placing = placeOrders(service.publicUrl, stage)
    await expect.poll(() => stored('booked').then(({ size }) => size)).toBeGreaterThan(5)
    service.child.kill('SIGTERM')
    await expect.poll(() => service.saw('held'), { timeout: 30_000 }).toBe(true)
    const ready = await fetch(`${service.opsUrl}/ready`).then((answer) => answer.status)
    service.child.kill('SIGKILL')
    await service.exited
    const acknowledged = await placing
    expect(service.closed()).toEqual(stages.slice(0, stages.indexOf(stage)))
    // Whoever looks is told until the last stage that nothing is to be sent here.
    expect(ready).toBe(503)
    // A job that outlived what it uses would have said so.
    expect(service.saw('job failed')).toBe(false)
    expect(acknowledged.length).toBeGreaterThan(5)
    const kept = await stored('true')
    expect(acknowledged.filter((id) => !kept.has(id))).toEqual([])
    const next = await startService()
    await expect.poll(() => stored('not booked').then(({ size }) => size), { timeout: 30_000 }).toBe(0)
    next.child.kill('SIGTERM')
    await next.exited
  },
)

test('O-131: a stop that is left alone ends every stage in order and exits with 0', async () => {
  const { child, exited, publicUrl, closed, saw } = await startService()
  const placing = placeOrders(publicUrl, 'whole')
  await expect.poll(() => stored('booked').then(({ size }) => size)).toBeGreaterThan(5)
  child.kill('SIGTERM')
  expect(await exited).toEqual([0, null])
  const acknowledged = await placing
  expect(closed()).toEqual([...stages])
  expect(saw('job failed') || saw('could not close')).toBe(false)
  const kept = await stored('true')
  expect(acknowledged.filter((id) => !kept.has(id))).toEqual([])
})
