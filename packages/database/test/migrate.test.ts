// Goal: migrations run once, in order, whoever starts at the same time; what fails leaves nothing half done and says what
// to do; a database that ran something else is refused. Attacks: a process killed in the middle, rows that a migration
// cannot take, tables in use, files that changed, a release before over a database of the next one. Method: a real server.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createFindings } from '@causeway/core/config'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  createDatabase,
  type Database,
  examineDatabase,
  type MigrationDirectory,
  MigrationFailedError,
  migrate,
  SchemaRefusedError,
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
let folder: string
beforeAll(async () => {
  server = await startTestDatabase()
  folder = await mkdtemp(join(tmpdir(), 'causeway-migrations-'))
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
  await server?.stop()
  await rm(folder, { recursive: true, force: true })
})

const tables = () =>
  database.query<{ name: string }>(
    `select relname::text as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r'
     order by relname`,
  )

type Release = Readonly<Record<string, Readonly<Record<string, string>>>>
let releases = 0

/** The files of a release: text by module and name. */
async function release(modules: Release): Promise<readonly MigrationDirectory[]> {
  releases += 1
  return Promise.all(
    Object.entries(modules).map(async ([name, files]) => {
      const path = join(folder, String(releases), name)
      await mkdir(path, { recursive: true })
      for (const [file, text] of Object.entries(files)) await writeFile(join(path, `${file}.sql`), text)
      return { name, path }
    }),
  )
}

const books = {
  '0001_accounts': 'create table accounts (id bigint primary key, owner text, balance numeric not null);',
  '0002_owner': 'create index accounts_owner on accounts (owner);',
}
const orders = {
  '0001_orders': 'create table orders (id bigint primary key, account bigint references accounts);',
}
const first: Release = { books, orders }
/** A release that adds a table, an index and a constraint. */
const second: Release = {
  books: { ...books, '0003_holds': 'create table holds (id bigint primary key);' },
  orders: {
    ...orders,
    '0002_one_each': `-- An account has one order.

create unique index orders_account
  on orders (account);`,
  },
}

const run = async (modules: Release, log: (line: string) => void = () => {}) =>
  migrate({ connectionString, directories: await release(modules), log })

/** The one finding that a start tells. */
async function refusalOf(modules: Release): Promise<{ readonly seen: string; readonly fix: string }> {
  const error = await run(modules).then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  if (!(error instanceof SchemaRefusedError || error instanceof MigrationFailedError)) throw error
  expect(error.findings).toEqual([
    expect.objectContaining({ code: 'database-schema', severity: 'stops', setting: 'DATABASE_URL' }),
  ])
  return error.findings[0] ?? { seen: '', fix: '' }
}

test('directories run in order, files by name, each once', async () => {
  const directories = [directory('first'), directory('second')]
  const told: string[] = []
  expect(await migrate({ connectionString, directories, log: (line) => told.push(line) })).toEqual([
    'first/0001_things',
    'first/0002_label',
    'second/0001_orders',
  ])
  expect(told.slice(0, 2)).toEqual([
    'Applying 3 migrations, first/0001_things to second/0001_orders.',
    'Applied the migration first/0001_things.',
  ])
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
  expect(await tables()).toEqual([])
})

test('a directory name that is no identifier is refused', async () => {
  const directories = [{ name: 'a"; drop table things; --', path: '/nowhere' }]
  await expect(migrate({ connectionString, directories })).rejects.toThrow(RangeError)
})

describe('a migration that fails', () => {
  test('O-162: on rows leaves every module as it was, names its line, and runs once they are mended', async () => {
    await run(first)
    await database.query("insert into accounts values (1, 'a', 5); insert into orders values (1, 1), (2, 1)")
    const before = await tables()
    const { seen, fix } = await refusalOf(second)
    expect(seen).toBe(
      'the migration orders/0002_one_each.sql failed: could not create unique index "orders_account" (23505); nothing was changed',
    )
    expect(fix).toMatch(
      /^Mend what the message names, then start again. The release before runs on meanwhile./,
    )
    expect(await tables()).toEqual(before)
    expect(await run(first)).toEqual([])
    await database.query('delete from orders where id = 2')
    expect(await run(second)).toEqual(['books/0003_holds', 'orders/0002_one_each'])
  })

  test('by its text names the line', async () => {
    const { seen } = await refusalOf({
      books: { '0001_a': 'create table a (id int);\ncreate table b (\n  id nothing);' },
    })
    expect(seen).toBe(
      'the migration books/0001_a.sql failed in line 3: type "nothing" does not exist (42704); nothing was changed',
    )
    expect(await tables()).toEqual([])
  })

  test('for want of rights says whose the tables must be', async () => {
    await database.query(`create role lodger_${databaseCount} login password 'x'`)
    const url = new URL(connectionString)
    Object.assign(url, { username: `lodger_${databaseCount}`, password: 'x' })
    await expect(
      migrate({ connectionString: url.toString(), directories: await release(first) }),
    ).rejects.toMatchObject({
      findings: [expect.objectContaining({ fix: expect.stringContaining('Let the user own the database') })],
    })
  })

  test('O-162: by kill -9 in the middle leaves nothing, and whoever comes next waits for it', async () => {
    const slow = { books: { ...books, '0003_slow': 'create table slow (id int); select pg_sleep(2);' } }
    const [{ path } = { path: '' }] = await release(slow)
    const script = join(import.meta.dirname, 'migratingProcess.ts')
    const child = spawn(process.execPath, [script, connectionString, path], {
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    const ended = once(child, 'close')
    const sleeping = () =>
      database.query(
        `select from pg_stat_activity where wait_event = 'PgSleep' and datname = current_database()`,
      )
    await expect.poll(sleeping, { interval: 20 }).toHaveLength(1)
    child.kill('SIGKILL')
    expect(await ended).toEqual([null, 'SIGKILL'])
    expect(await tables()).toEqual([])
    const told: string[] = []
    expect(await run(first, (line) => told.push(line))).toHaveLength(3)
    expect(told[0]).toBe('Another process migrates this database; its end is waited for.')
    expect(told[1]).toBe('Applying 3 migrations, books/0001_accounts to orders/0001_orders.')
    expect((await tables()).map(({ name }) => name)).toEqual([
      ...['accounts', 'migrations_books', 'migrations_orders', 'orders'],
    ])
  })
})

test('a release that took turns by its own lock is waited for', async () => {
  let release: () => void = () => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  const told: string[] = []
  const holding = database.transaction(async (tx) => {
    await tx.query('select pg_advisory_lock(7241865325823964)')
    const migrating = run(first, (line) => told.push(line))
    await expect.poll(() => told).toEqual(['Another process migrates this database; its end is waited for.'])
    await tx.query('select pg_advisory_unlock(7241865325823964)')
    await released
    return migrating
  })
  await expect.poll(() => told.length).toBe(5)
  release()
  expect(await holding).toHaveLength(3)
})

test('tables in use are waited for, and users of them wait no longer than a moment', async () => {
  await run(first)
  await database.query("insert into accounts values (1, 'a', 5)")
  const alter = { books: { ...books, '0003_note': 'alter table accounts add column note text;' }, orders }
  const told: string[] = []
  const reading = createDatabase({ connectionString })
  try {
    await database.transaction(async (tx) => {
      await tx.query('select * from accounts')
      const migrating = run(alter, (line) => told.push(line))
      await expect
        .poll(() => reading.query(`select from pg_locks where not granted and locktype = 'relation'`), {
          interval: 20,
        })
        .toHaveLength(1)
      // Behind the migration that waits for this transaction.
      await reading.query('select * from accounts')
      await expect.poll(() => told.at(-1)).toBe('Tables that a migration changes are in use; try 1 of 10.')
      migrating.catch(() => {})
    })
    await expect.poll(() => told.at(-1), { timeout: 20_000 }).toBe('Applied the migration books/0003_note.')
  } finally {
    await reading.close()
  }
})

test('limits of everyday statements do not end a long migration', async () => {
  const limited = `${connectionString}?options=-c%20statement_timeout%3D200%20-c%20lock_timeout%3D200`
  const directories = await release({
    books: { '0001_slow': 'create table slow (id int); select pg_sleep(0.5);' },
  })
  expect(await migrate({ connectionString: limited, directories })).toEqual(['books/0001_slow'])
})

describe('a database that ran something else', () => {
  test('O-159: is refused where a file changed, and nothing runs', async () => {
    await run(first)
    const edited = {
      ...second,
      books: { ...second['books'], '0002_owner': 'create index other on accounts (owner);' },
    }
    expect(await refusalOf(edited)).toEqual(
      expect.objectContaining({
        seen: 'it ran another text of the migration books/0002_owner.sql than this release has',
        fix: expect.stringContaining('docs/operating/upgrade.md'),
      }),
    )
    expect(await tables()).toHaveLength(4)
  })

  test('O-163: runs under the release before, unless a migration says that this must not be', async () => {
    await run(second)
    const told: string[] = []
    expect(await run(first, (line) => told.push(line))).toEqual([])
    expect(told).toEqual([
      'A later release ran 0003_holds of books, and lets this one run.',
      'A later release ran 0002_one_each of orders, and lets this one run.',
    ])
    const stopping =
      '-- older releases: stop, they write balances without it\nalter table accounts add column unit text not null;'
    const third = { ...second, books: { ...second['books'], '0004_unit': stopping } }
    expect(await run(third)).toEqual(['books/0004_unit'])
    expect((await refusalOf(second)).seen).toBe(
      'a later release ran the migration books/0004_unit.sql, over which older ones must not run',
    )
    expect((await refusalOf(first)).fix).toContain('restore the backup from before the upgrade')
  })

  test('O-161: by branches in another order gets what it lacks, and its tables are looked at', async () => {
    await run({ books: { ...books, '0004_late': 'create table late (id int);' } })
    const told: string[] = []
    const merged = {
      ...books,
      '0003_holds': 'create table holds (id int);',
      '0004_late': 'create table late (id int);',
    }
    expect(await run({ books: merged }, (line) => told.push(line))).toEqual(['books/0003_holds'])
    expect(told).toContain(
      'The tables that were there are what the migrations make; the history has checksums now.',
    )
    await run({ books: { ...merged, '0006_keep': 'create table if not exists shared (id int);' } })
    const other = { ...merged, '0005_keep': 'create table if not exists shared (id bigint);' }
    const last = { '0006_keep': 'create table if not exists shared (id int);' }
    expect((await refusalOf({ books: { ...other, ...last } })).seen).toBe(
      'its tables are not those that its migrations make: column shared.id is "integer" and not "bigint"',
    )
  })
})

describe('a doctor', () => {
  const examine = async (modules: Release) => {
    const found = createFindings()
    await examineDatabase(
      {
        connectionString,
        setting: 'DATABASE_URL',
        isWaitedFor: true,
        connections: 1,
        runsJobs: true,
        nowMs: () => Date.now(),
        directories: await release(modules),
      },
      found,
    )
    return found.list.map(({ code, severity, seen }) => `${severity} ${code}: ${seen}`)
  }

  test('O-104: tells of an empty database, and refuses one in which another service keeps its tables', async () => {
    expect(await examine(first)).toEqual([
      'note database-schema: it is empty: the next start makes its tables',
    ])
    await run(first)
    expect(await examine({ books })).toEqual([
      'stops database-schema: another service keeps its tables there (migrations_orders)',
    ])
  })

  test('tells what the next start applies, or why it is refused, and changes nothing', async () => {
    await run(first)
    expect(await examine(first)).toEqual([])
    expect(await examine(second)).toEqual([
      'note database-schema: the next start applies books/0003_holds, orders/0002_one_each',
    ])
    expect(await tables()).toHaveLength(4)
    const edited = { ...first, books: { ...books, '0002_owner': '' } }
    expect(await examine(edited)).toEqual([
      'stops database-schema: it ran another text of the migration books/0002_owner.sql than this release has',
    ])
    await run(second)
    expect(await examine(first)).toEqual([
      'note database-schema: a later release ran books/0003_holds, orders/0002_one_each, and lets this one run',
    ])
    await database.query('alter table migrations_books drop column checksum, drop column stops_older')
    expect(await examine(second)).toEqual([])
  })
})

describe('a history without checksums', () => {
  const asBefore = async (modules: Release) => {
    for (const [module, files] of Object.entries(modules)) {
      await database.query(
        `create table migrations_${module} (id serial primary key, name varchar(255) not null, run_on timestamp not null)`,
      )
      for (const [name, text] of Object.entries(files)) {
        await database.query(text)
        await database.query(`insert into migrations_${module} (name, run_on) values ($1, now())`, [name])
      }
    }
  }
  const checksums = () => database.query(`select name from migrations_books where checksum is null`)

  test('O-159: gets them at the first start, once; then a changed file is refused', async () => {
    await asBefore(first)
    const told: string[] = []
    expect(await run(second, (line) => told.push(line))).toEqual(['books/0003_holds', 'orders/0002_one_each'])
    expect(told[1]).toBe(
      'The tables that were there are what the migrations make; the history has checksums now.',
    )
    expect(await checksums()).toEqual([])
    expect(await run(second, (line) => told.push(line))).toEqual([])
    expect(told).toHaveLength(4)
    const edited = {
      ...second,
      books: { ...second['books'], '0001_accounts': 'create table other (id int);' },
    }
    expect((await refusalOf(edited)).seen).toContain('books/0001_accounts.sql')
  })

  test('O-159: is refused where another text had run under a name, and stays as it was', async () => {
    await asBefore({
      ...first,
      books: { ...books, '0002_owner': 'create index accounts_owner on accounts (id);' },
    })
    expect((await refusalOf(second)).seen).toBe(
      'its tables are not those that its migrations make: index accounts_owner is ' +
        '"CREATE INDEX accounts_owner ON accounts USING btree (id)" and not ' +
        '"CREATE INDEX accounts_owner ON accounts USING btree (owner)"',
    )
    expect(await tables()).toHaveLength(4)
    expect(await database.query(`select from pg_namespace where nspname like 'causeway%'`)).toEqual([])
  })

  test('is taken with what its owner added, and without a look where the user may make no schema', async () => {
    await asBefore(first)
    const owner = `owner_${databaseCount}`
    await database.query(
      `create index of_my_own on accounts (balance); create role ${owner} login password 'x'`,
    )
    await database.query(`grant all on schema public to ${owner}`)
    for (const { name } of await tables()) await database.query(`alter table ${name} owner to ${owner}`)
    const url = new URL(connectionString)
    Object.assign(url, { username: owner, password: 'x' })
    const told: string[] = []
    const directories = await release(first)
    await migrate({ connectionString: url.toString(), directories, log: (line) => told.push(line) })
    expect(told).toEqual([
      'The user may make no schema, so the tables that were there are taken as they are, unseen.',
    ])
    expect(await checksums()).toEqual([])
    expect(await run(second)).toHaveLength(2)
  })
})
