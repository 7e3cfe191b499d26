// Goal: a database that a service could not work with is told before it starts. Attacks: a role that may only read, tables
// of somebody else, a clock that is off, a full pool, a password and a URL that must not be shown. Method: a real server.
import { createFindings } from '@causeway/core/config'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type DatabaseFacts, judgeDatabase } from '../src/examineDatabase.ts'
import {
  createDatabase,
  type ExaminedDatabase,
  examineDatabase,
  startElections,
  startTestDatabase,
  type TestDatabase,
} from '../src/index.ts'

let server: TestDatabase
beforeAll(async () => {
  server = await startTestDatabase()
  const { database } = server
  await database.query(`create role reader login password 'canary'`)
  await database.query(`create role halted login password 'canary'`)
  await database.query(`alter role halted set default_transaction_read_only = on`)
  await database.query(`grant create on schema public to halted`)
})
afterAll(() => server?.stop())

const as = (user: string, password = 'canary') => {
  const url = new URL(server.connectionString)
  url.username = user
  url.password = password
  return url.toString()
}

async function examine(connectionString: string, changed: Partial<ExaminedDatabase> = {}) {
  const found = createFindings()
  const examined = { setting: 'DATABASE_URL', isWaitedFor: true, connections: 11, runsJobs: true }
  await examineDatabase({ ...examined, connectionString, nowMs: () => Date.now(), ...changed }, found)
  expect(JSON.stringify(found.list)).not.toContain('canary')
  return found.list.map(({ code, severity, seen }) => [code, severity, seen] as const)
}

test('one that its user owns is well, and keeps nothing of the look at it', async () => {
  expect(await examine(server.connectionString)).toEqual([])
  expect(await server.database.query(`select from pg_class where relname like 'causeway%'`)).toEqual([])
})

test('a user that may only read stops the start, before and after migrations', async () => {
  expect(await examine(as('reader'))).toEqual([
    ['database-rights', 'stops', 'this user may create no tables'],
  ])
  await server.database.query('create table migrations_x (id int)')
  await server.database.query('grant select on migrations_x to reader')
  expect(await examine(as('reader'))).toEqual([
    ['database-rights', 'degrades', 'this user may create no tables, which the next upgrade does'],
    ['database-rights', 'stops', 'this user may not write migrations_x'],
  ])
  await server.database.query('drop table migrations_x')
  expect(await examine(as('halted'))).toEqual([
    ['database-rights', 'stops', 'transactions of this user are read-only'],
  ])
})

test.each([300_000, -300_000])('a clock that is %i ms off is told', async (offsetMs) => {
  const [first, ...more] = await examine(server.connectionString, { nowMs: () => Date.now() + offsetMs })
  expect(more).toEqual([])
  expect(first?.slice(0, 2)).toEqual(['clock-off', 'degrades'])
  expect(first?.[2]).toMatch(offsetMs > 0 ? /(299|300) s ahead of/ : /(300|301) s behind/)
})

test('what cannot be reached is waited for where the service waits, and stops it elsewhere', async () => {
  const nowhere = 'postgres://canary:canary@127.0.0.1:9/canary'
  expect(await examine(nowhere)).toEqual([
    [
      'database-unreachable',
      'degrades',
      'the database cannot be used (ECONNREFUSED); the start waits for it',
    ],
  ])
  expect(await examine(nowhere, { isWaitedFor: false })).toEqual([
    ['database-unreachable', 'stops', expect.any(String)],
  ])
})

test.each([
  [
    'a database that does not exist',
    () => server.connectionString.replace(/[^/]+$/, 'elsewhere'),
    '3D000): database "elsewhere" does not exist',
  ],
  [
    'a user that does not',
    () => as('stranger'),
    '28P01): password authentication failed for user "stranger"',
  ],
  ['no URL', () => 'postgres://[canary', 'ERR_INVALID_URL)'],
])('O-58: %s is told in the words of the server, and is no matter of waiting', async (_what, url, state) => {
  const [found, ...more] = await examine(url())
  expect(more).toEqual([])
  expect(found?.slice(0, 2)).toEqual(['database-unreachable', 'stops'])
  expect(found?.[2]).toBe(`the database cannot be used (${state}`)
})

test('more connections than the server takes contradict its setting', async () => {
  expect(await examine(server.connectionString, { connections: 100_000 })).toEqual([
    ['setting-contradicts', 'stops', expect.stringContaining('holds up to 100000')],
  ])
})

test('jobs that nobody runs are told, and those of another process are not', async () => {
  expect(await examine(server.connectionString, { runsJobs: false })).toEqual([
    ['jobs-elsewhere', 'degrades', expect.stringContaining('nothing is settled')],
  ])
  const { database, connectionString } = server
  await database.query(
    'create table job_epoch (job text primary key, epoch bigint, holder text, since timestamptz default now())',
  )
  const lockDatabase = createDatabase({ connectionString, poolSize: 1 })
  const elections = startElections({
    jobs: ['settlement'],
    lockDatabase,
    database,
    holder: 'other',
    leaseMs: 2_000,
    onChange: () => undefined,
    onFailure: () => undefined,
  })
  await expect.poll(() => elections.leadershipOf('settlement')).toBeDefined()
  expect(await examine(connectionString, { runsJobs: false })).toEqual([])
  await elections.close()
  await lockDatabase.close()
})

const well: DatabaseFacts = {
  version: 180_000,
  isStandby: false,
  isReadOnly: false,
  mayCreateTables: true,
  closedTables: [],
  isMigrated: true,
  hasJobs: false,
  connectionsMax: 97,
  isDiskFull: false,
  clockOffsetMs: 0,
}

test.each<[string, Partial<DatabaseFacts>, string, string]>([
  ['a version that nobody mends', { version: 130_010 }, 'database-version', 'stops'],
  ['a version that nobody tried', { version: 160_004 }, 'database-version', 'note'],
  ['a standby, which may be promoted', { isStandby: true, isReadOnly: true }, 'database-rights', 'degrades'],
  ['a disk without room', { isDiskFull: true }, 'database-full', 'degrades'],
])('O-158: %s is told', (_what, changed, code, severity) => {
  const examined = { setting: 'DATABASE_URL', isWaitedFor: true, connections: 11, runsJobs: true }
  expect(judgeDatabase(well, examined)).toEqual([])
  expect(judgeDatabase({ ...well, ...changed }, examined)).toMatchObject([{ code, severity }])
})
