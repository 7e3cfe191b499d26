// Goal: a connection that may not write, or that no longer keeps its time limits, ends, and what comes after it works.
// Attacks: a role that is read-only for a moment, as in a failover; traffic that never lets a connection idle; an
// expired password; a full list of connections; something in between that drops SET. Method: a real server.
import { connect, createServer, type Server, type Socket } from 'node:net'
import { UpstreamUnavailableError } from '@causeway/core'
import { createFindings } from '@causeway/core/config'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  createDatabase,
  type Database,
  DatabaseStartingError,
  examineDatabase,
  openMigrated,
  startTestDatabase,
  type TestDatabase,
  whileStarting,
} from '../src/index.ts'

let server: TestDatabase
beforeAll(async () => {
  server = await startTestDatabase()
  await server.database.query('create table notes (id bigint)')
})
afterAll(() => server?.stop())

async function createRole(name: string): Promise<string> {
  await server.database.query(`create role ${name} login password 'canary'`)
  await server.database.query(`grant all on notes to ${name}`)
  return Object.assign(new URL(server.connectionString), { username: name, password: 'canary' }).href
}

const write = (database: Database) => database.query('insert into notes values (1)')
const refusalOf = (work: Promise<unknown>) => work.then(() => undefined).catch((error: unknown) => error)

async function findingOf(connectionString: string): Promise<string | undefined> {
  const found = createFindings()
  const examined = { setting: 'SOME_URL', isWaitedFor: true, connections: 1, runsJobs: true }
  await examineDatabase({ ...examined, connectionString, nowMs: () => Date.now() }, found)
  return found.list[0]?.seen
}

test('O-56: a session that was opened while nothing could be written ends, however busy it is', async () => {
  const connectionString = await createRole('halted')
  await server.database.query('alter role halted set default_transaction_read_only = on')
  const database = createDatabase({ connectionString, poolSize: 2 })
  expect(await refusalOf(write(database))).toBeInstanceOf(DatabaseStartingError)
  expect(await refusalOf(database.ping())).toBeInstanceOf(DatabaseStartingError)
  await server.database.query('alter role halted reset default_transaction_read_only')
  await write(database)
  await database.ping()
  await database.close()
})

test('O-56: a session that becomes read-only ends at its first write, and at a look at its readiness', async () => {
  const database = createDatabase({ connectionString: await createRole('demoted'), poolSize: 1 })
  const demote = () => database.query('set default_transaction_read_only = on')
  await demote()
  expect(await refusalOf(write(database))).toBeInstanceOf(DatabaseStartingError)
  await write(database)
  await demote()
  expect(await refusalOf(database.ping())).toBeInstanceOf(DatabaseStartingError)
  await write(database)
  await demote()
  const writing = database.transaction(async (tx) => tx.query('insert into notes values (2)'))
  expect(await refusalOf(writing)).toBeInstanceOf(DatabaseStartingError)
  await write(database)
  await database.close()
})

test('O-57: time limits are set after connecting and hold', async () => {
  const { connectionString } = server
  const database = createDatabase({ connectionString, poolSize: 1, statementTimeoutMs: 200 })
  expect(await database.query("select current_setting('statement_timeout') as value")).toEqual([
    { value: '200ms' },
  ])
  expect(
    await database.query("select current_setting('idle_in_transaction_session_timeout') as value"),
  ).toEqual([{ value: '10s' }])
  await database.close()
})

test('O-57: a start where a limit does not hold is refused by its name', async () => {
  const proxy = await startForgetfulProxy(Number(new URL(server.connectionString).port))
  const connectionString = Object.assign(new URL(server.connectionString), { port: String(proxy.port) }).href
  const opening = openMigrated({ connectionString, setting: 'SOME_URL', directories: [] })
  await expect(opening).rejects.toThrow(
    'The database of SOME_URL cannot be used: the time limit statement_timeout was set to 5000 ms and reads 0 ms',
  )
  await proxy.close()
})

test('O-58: a password that expires says so in the words of the server, and is a 503 of a running service', async () => {
  const connectionString = await createRole('passing')
  const open = () => openMigrated({ connectionString, setting: 'SOME_URL', directories: [] })
  const running = await open()
  await server.database.query(`alter role passing valid until '2001-01-01'`)
  await server.database.query(
    `select pg_terminate_backend(pid) from pg_stat_activity where usename = 'passing'`,
  )
  await expect(open()).rejects.toThrow(
    'The database of SOME_URL cannot be used (28P01): password authentication failed for user "passing".',
  )
  await expect
    .poll(() => refusalOf(write(running)))
    .toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
      retryable: true,
      message: 'The database takes no connection.',
    })
  expect(await findingOf(connectionString)).toBe(
    'the database cannot be used (28P01): password authentication failed for user "passing"',
  )
  await server.database.query(`alter role passing valid until 'infinity'`)
  await expect.poll(() => refusalOf(write(running))).toBeUndefined()
  await running.close()
})

test('O-58: a full list of connections is waited for at the start, and is a 503 of a running service', async () => {
  const connectionString = await createRole('crowded')
  const first = await openMigrated({ connectionString, setting: 'SOME_URL', directories: [], poolSize: 1 })
  await server.database.query('alter role crowded connection limit 1')
  const second = createDatabase({ connectionString, poolSize: 1 })
  expect(await refusalOf(write(second))).toBeInstanceOf(UpstreamUnavailableError)
  const refused = await refusalOf(openMigrated({ connectionString, setting: 'SOME_URL', directories: [] }))
  expect(String(refused)).toContain(
    'The database of SOME_URL cannot be used (53300): too many connections for role "crowded".',
  )
  expect(whileStarting(refused)).toBeInstanceOf(DatabaseStartingError)
  expect(await findingOf(connectionString)).toBe(
    'the database cannot be used (53300): too many connections for role "crowded"; the start waits for it',
  )
  await first.close()
  await expect.poll(() => refusalOf(write(second))).toBeUndefined()
  await second.close()
})

/** Passes everything on, and makes another setting of the limit that is set: same length, so that frames hold. */
async function startForgetfulProxy(
  target: number,
): Promise<{ readonly port: number; close(): Promise<void> }> {
  const sockets = new Set<Socket>()
  const proxy: Server = createServer((client) => {
    const upstream = connect(target, '127.0.0.1')
    for (const socket of [client, upstream]) sockets.add(socket.on('error', () => {}))
    client.on('data', (data) => {
      const text = data.toString('latin1').replaceAll('statement_timeout =', 'causeway.dropped_ =')
      upstream.write(Buffer.from(text, 'latin1'))
    })
    client.on('close', () => upstream.destroy())
    upstream.pipe(client)
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  const address = proxy.address()
  if (address === null || typeof address === 'string') throw new Error('the proxy has no port')
  return {
    port: address.port,
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy()
        proxy.close(() => resolve())
      }),
  }
}
