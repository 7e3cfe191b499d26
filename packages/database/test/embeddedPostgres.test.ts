// Goal: one owner per directory, orphans adopted or stopped, acknowledged commits survive kills.
// Method: real servers, owners that are separate processes and get killed.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { ConfigurationError } from '@causeway/core'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { findPostgresBinaries } from '../src/embedded/binaries.ts'
import { initialiseCluster, readPassword } from '../src/embedded/initialise.ts'
import { processIdentity } from '../src/embedded/processIdentity.ts'
import { stopServer } from '../src/embedded/serverProcess.ts'
import { createRunner } from '../src/embedded/unprivileged.ts'
import {
  createDatabase,
  type EmbeddedPostgresOptions,
  findEmbeddedPostgres,
  freeLoopbackPort,
  startEmbeddedPostgres,
} from '../src/index.ts'

const cleanups: (() => Promise<unknown>)[] = []
let dataDirectory: string
beforeEach(async () => {
  dataDirectory = await mkdtemp(join(tmpdir(), 'causeway-embedded-'))
  cleanups.push(() => rm(dataDirectory, { recursive: true }))
})
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

async function start(options: Partial<EmbeddedPostgresOptions> = {}) {
  const messages: string[] = []
  const server = await startEmbeddedPostgres({
    dataDirectory,
    durable: false,
    log: (message) => messages.push(message),
    ...options,
  })
  cleanups.push(() => server.stop())
  return { ...server, messages }
}

/** Another process that owns the server until it is killed. */
async function startOwner(
  options: { durable?: boolean } = {},
): Promise<{ child: ChildProcess; pid: number; port: number }> {
  const child = spawn(
    process.execPath,
    [
      join(import.meta.dirname, 'ownerProcess.ts'),
      JSON.stringify({ dataDirectory, durable: false, ...options }),
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  cleanups.push(async () => child.kill('SIGKILL'))
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`the owner ended with ${code} before its server was up; its error is above`)
  })
  // Afterwards it is ended on purpose.
  ended.catch(() => {})
  const [line] = await Promise.race([once(child.stdout, 'data'), ended])
  return { child, ...JSON.parse(String(line)) }
}

async function killOwner({ child }: { child: ChildProcess }): Promise<void> {
  child.kill('SIGKILL')
  await once(child, 'exit')
}

/** Not by signal 0, which a process that nobody has waited for answers too. */
const isAlive = async (pid: number) => (await processIdentity(pid)) !== undefined

async function ask(connectionString: string, text: string) {
  const database = createDatabase({ connectionString, poolSize: 1 })
  try {
    return await database.query(text)
  } finally {
    await database.close()
  }
}

test('starts, keeps its data over a stop, and stops by process id', async () => {
  const first = await start()
  expect(await ask(first.connectionString, 'show server_version')).toEqual([
    { server_version: expect.stringMatching(/^18\./) },
  ])
  await ask(first.connectionString, 'create table kept as select 7 as seven')
  await first.stop()
  expect(await isAlive(first.pid)).toBe(false)
  const second = await start()
  expect(await ask(second.connectionString, 'select seven from kept')).toEqual([{ seven: 7 }])
  expect(second.adopted).toBe(false)
})

test('listens on loopback only, with a password that only its owner can read', async () => {
  const { connectionString } = await start()
  expect(await ask(connectionString, 'show listen_addresses')).toEqual([{ listen_addresses: '127.0.0.1' }])
  const { mode } = await stat(join(dataDirectory, 'password'))
  expect(mode & 0o077).toBe(0)
  const wrong = new URL(connectionString)
  wrong.password = 'wrong'
  await expect(ask(wrong.href, 'select 1')).rejects.toMatchObject({ cause: { code: '28P01' } })
})

test('syncs to disk by default and only then', async () => {
  const fast = await start({ durable: false })
  expect(await ask(fast.connectionString, 'show fsync')).toEqual([{ fsync: 'off' }])
  await fast.stop()
  const safe = await start({ durable: true })
  const settings =
    "select string_agg(name || '=' || setting, ' ' order by name) as all from pg_settings where name in ('fsync', 'full_page_writes', 'synchronous_commit')"
  expect(await ask(safe.connectionString, settings)).toEqual([
    { all: 'fsync=on full_page_writes=on synchronous_commit=on' },
  ])
})

test('a directory in use by a live process is refused', async () => {
  const owner = await startOwner()
  await expect(startEmbeddedPostgres({ dataDirectory })).rejects.toThrow(ConfigurationError)
  await expect(startEmbeddedPostgres({ dataDirectory })).rejects.toThrow(`process ${owner.child.pid}`)
  await killOwner(owner)
  await stopServer(owner.pid)
})

test('the server of a killed owner is adopted, and then stopped by its new owner', async () => {
  const owner = await startOwner()
  await killOwner(owner)
  expect(await isAlive(owner.pid)).toBe(true)
  const adopted = await start()
  expect([adopted.adopted, adopted.pid, adopted.port]).toEqual([true, owner.pid, owner.port])
  expect(adopted.messages).toEqual([`Took over the database that process ${owner.child.pid} left running.`])
  await adopted.stop()
  await expect.poll(() => isAlive(owner.pid)).toBe(false)
})

test('an orphan with another port or other durability is stopped and replaced', async () => {
  const owner = await startOwner()
  await killOwner(owner)
  const port = await freeLoopbackPort()
  const moved = await start({ port })
  expect([moved.adopted, moved.port]).toEqual([false, port])
  expect(await isAlive(owner.pid)).toBe(false)
  await moved.stop()
  const second = await startOwner()
  await killOwner(second)
  const durable = await start({ durable: true })
  expect(durable.adopted).toBe(false)
  expect(await ask(durable.connectionString, 'show fsync')).toEqual([{ fsync: 'on' }])
})

test('an owner file of a process whose id was given to another one bars nobody', async () => {
  const first = await start()
  await first.stop()
  const stale = { pid: process.ppid, identity: 'another start', durable: false }
  await writeFile(join(dataDirectory, 'owner.json'), JSON.stringify(stale))
  expect((await start()).adopted).toBe(false)
})

test('database files whose creation was cut are created anew', async () => {
  await writeFile(join(dataDirectory, 'password'), 'left over')
  await rm(join(dataDirectory, 'cluster.new'), { recursive: true, force: true })
  await writeFile(join(dataDirectory, 'cluster.new'), 'half')
  const { connectionString } = await start()
  expect(await ask(connectionString, 'select 1 as one')).toEqual([{ one: 1 }])
})

// A checkout under /root, whose owner is root: its programs run as another account, and initdb asks access(2).
test('its programs run from a folder that only the account of this process may pass', async () => {
  const programs = join(dirname((await findPostgresBinaries()).initdb), '..')
  const closed = await mkdtemp(join(tmpdir(), 'causeway-closed-'))
  cleanups.push(() => rm(closed, { recursive: true }))
  expect((await stat(closed)).mode & 0o777).toBe(0o700)
  await cp(programs, join(closed, 'native'), { recursive: true, verbatimSymlinks: true })
  const bin = join(closed, 'native', 'bin')
  await initialiseCluster({
    dataDirectory,
    durable: false,
    runner: await createRunner(),
    binaries: { initdb: join(bin, 'initdb'), postgres: join(bin, 'postgres') },
  })
  expect(await readPassword(dataDirectory)).toMatch(/^[0-9a-f]{32}$/)
})

test('a port that is taken fails with the end of the log and leaves no process', async () => {
  const first = await start()
  const other = await mkdtemp(join(tmpdir(), 'causeway-embedded-'))
  cleanups.push(() => rm(other, { recursive: true }))
  await expect(startEmbeddedPostgres({ dataDirectory: other, port: first.port })).rejects.toThrow('in use')
  expect(await readFile(join(other, 'postgres.log'), 'utf8')).toContain('could not bind')
})

test('a free port that somebody takes before the server does is given up for another one', async () => {
  const first = await start()
  const other = await mkdtemp(join(tmpdir(), 'causeway-embedded-'))
  cleanups.push(() => rm(other, { recursive: true }))
  const free = await freeLoopbackPort()
  const choices = [first.port, free]
  const choosePort = async () => choices.shift() ?? 0
  const second = await start({ dataDirectory: other, choosePort })
  expect([second.port, choices]).toEqual([free, []])
  expect(await ask(second.connectionString, 'select 1 as one')).toEqual([{ one: 1 }])
})

test('kill -9 of the server right after a commit loses nothing, three times over', async () => {
  const owned = { durable: true }
  let server = await start(owned)
  await ask(server.connectionString, 'create table acknowledged (id int primary key)')
  for (let round = 1; round <= 3; round += 1) {
    await ask(server.connectionString, `insert into acknowledged values (${round})`)
    process.kill(server.pid, 'SIGKILL')
    await expect.poll(() => isAlive(server.pid)).toBe(false)
    await server.stop()
    server = await start(owned)
    const ids = await ask(
      server.connectionString,
      'select array_agg(id order by id) as ids from acknowledged',
    )
    expect(ids).toEqual([{ ids: Array.from({ length: round }, (_, index) => index + 1) }])
  }
})

test('a command works beside the owner and finds nothing when there is none', async () => {
  expect(await findEmbeddedPostgres({ dataDirectory })).toBeUndefined()
  const owner = await startOwner()
  const connectionString = await findEmbeddedPostgres({ dataDirectory })
  expect(new URL(connectionString ?? '').port).toBe(String(owner.port))
  expect(await ask(connectionString ?? '', 'select 1 as one')).toEqual([{ one: 1 }])
  await killOwner(owner)
  // The server of a dead owner is for `startEmbeddedPostgres` to take over.
  expect(await findEmbeddedPostgres({ dataDirectory })).toBeUndefined()
  const adopted = await start()
  expect(adopted.adopted).toBe(true)
})

test('a command waits for an owner that is still starting its server', async () => {
  const starting = start()
  const found = await findEmbeddedPostgres({ dataDirectory })
  const { connectionString } = await starting
  expect([undefined, connectionString]).toContain(found)
  expect(await findEmbeddedPostgres({ dataDirectory })).toBe(connectionString)
})
