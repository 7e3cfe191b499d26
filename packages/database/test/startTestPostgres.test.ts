// Goal: servers of tests are made of copied files and share nothing but these. Method: real servers.
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createDatabase, startTestPostgres } from '../src/index.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'causeway-test-postgres-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const start = (name: string) =>
  startTestPostgres({ dataDirectory: join(folder, name), cacheFolder: join(folder, 'cache') })

async function ask(connectionString: string, text: string): Promise<unknown> {
  const database = createDatabase({ connectionString, poolSize: 1 })
  try {
    return await database.query(text)
  } finally {
    await database.close()
  }
}

test('servers that start at once from nothing agree on one set of files and share no rows', async () => {
  const servers = await Promise.all([start('one'), start('two')])
  const [one, two] = servers
  try {
    await ask(one.connectionString, 'create table kept as select 1 as value')
    expect(await ask(two.connectionString, `select to_regclass('kept') as name`)).toEqual([{ name: null }])
  } finally {
    await Promise.all(servers.map((server) => server.stop()))
  }
  expect(await readdir(join(folder, 'cache'))).toHaveLength(1)
})

test('a directory that has files keeps them', async () => {
  const before = await start('one')
  await ask(before.connectionString, 'create table kept as select 1 as value')
  await before.stop()
  const after = await start('one')
  try {
    expect(await ask(after.connectionString, 'select value from kept')).toEqual([{ value: 1 }])
  } finally {
    await after.stop()
  }
})
