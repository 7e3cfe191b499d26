// Goal: migrations run once, in order, whoever starts at the same time. Method: a real server.
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import {
  createDatabase,
  type Database,
  type MigrationDirectory,
  migrate,
  startTestDatabase,
  type TestDatabase,
} from '../src/index.ts'

const directory = (name: string): MigrationDirectory => ({
  name,
  path: join(import.meta.dirname, 'migrations', name),
})

let server: TestDatabase
let databaseCount = 0
let connectionString: string
let database: Database
beforeAll(async () => {
  server = await startTestDatabase()
})
beforeEach(async () => {
  databaseCount += 1
  await server.database.query(`create database empty_${databaseCount}`)
  connectionString = server.connectionString.replace(/[^/]+$/, `empty_${databaseCount}`)
  database = createDatabase({ connectionString })
})
afterEach(async () => {
  await database.close()
})
afterAll(async () => {
  await server.stop()
})

test('directories run in order, files by name, each once', async () => {
  const directories = [directory('first'), directory('second')]
  const told: string[] = []
  expect(await migrate({ connectionString, directories, log: (line) => told.push(line) })).toEqual([
    'first/0001_things',
    'first/0002_label',
    'second/0001_orders',
  ])
  expect(told[0]).toBe('Applied the migration first/0001_things.')
  await database.query("insert into things values (1, 21, 'x')")
  expect(await database.query('select double_amount(1) as doubled')).toEqual([{ doubled: 42n }])
  expect(await migrate({ connectionString, directories })).toEqual([])
})

test('starts at the same time wait for each other', async () => {
  const directories = [directory('first'), directory('second')]
  const starts = await Promise.all([1, 2, 3, 4].map(() => migrate({ connectionString, directories })))
  expect(starts.flat().sort()).toEqual(['first/0001_things', 'first/0002_label', 'second/0001_orders'])
})

test('its connection is closed when it is done: a server that stops then breaks nothing', async () => {
  const openSockets = () => process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length
  const before = openSockets()
  await migrate({ connectionString, directories: [directory('first')] })
  expect(openSockets()).toBe(before)
  await expect(migrate({ connectionString, directories: [directory('broken')] })).rejects.toThrow()
  expect(openSockets()).toBe(before)
})

test('a failing migration leaves nothing of its module behind', async () => {
  await expect(migrate({ connectionString, directories: [directory('broken')] })).rejects.toThrow(
    'no_such_type',
  )
  expect(await database.query("select to_regclass('half') as half")).toEqual([{ half: null }])
})

test('a directory name that is no identifier is refused', async () => {
  const directories = [{ name: 'a"; drop table things; --', path: '/nowhere' }]
  await expect(migrate({ connectionString, directories })).rejects.toThrow(RangeError)
})
