// Goal: whoever comes from any earlier state of `main` gets the tables that a new database has, keeps every row, and has
// books that add up. Attacks: texts that were changed, numbers that were taken twice, files that came between old ones.
// Method: one real server with a database per distinct set of migration files of the history, made and filled as the
// releases of the time did, then migrated by the code of today; catalogs compared object by object.

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import {
  createDatabase,
  type Database,
  describeSchema,
  migrate,
  startTestDatabase,
  type TestDatabase,
} from '@causeway/database'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { schemaModules as oracleModules } from '../apps/oracle/src/compose/sharedState.ts'
import { schemaModules } from '../apps/quote-api/src/operate/database.ts'
import { schemaModules as solverModules } from '../apps/solver/src/compose/database.ts'
import { verifyLedger } from '../packages/ledger/src/index.ts'
import { fillings } from './upgrades/filling.ts'
import { readSchemaSets, type SchemaSet } from './upgrades/schemaSets.ts'

const services = { quoteApi: schemaModules, solver: solverModules, oracle: oracleModules }
type Service = keyof typeof services
const sets = await readSchemaSets()

let server: TestDatabase
beforeAll(async () => {
  server = await startTestDatabase()
})
afterAll(() => server?.stop())

let databases = 0
async function withDatabase<T>(
  work: (database: Database, connectionString: string) => Promise<T>,
): Promise<T> {
  databases += 1
  const name = `upgraded_${databases}`
  await server.database.query(`create database ${name}`)
  const connectionString = server.connectionString.replace(/[^/]+$/, name)
  const database = createDatabase({ connectionString, poolSize: 1, statementTimeoutMs: 60_000 })
  try {
    return await work(database, connectionString)
  } finally {
    await database.close()
  }
}

type ModuleFile = { readonly module: string; readonly name: string; readonly text: string }

const folders: Readonly<Record<string, string>> = {
  ledger: 'packages/ledger/migrations',
  quote_api: 'apps/quote-api/migrations',
  solver: 'apps/solver/migrations',
  oracle: 'apps/oracle/migrations',
}

/** In the order in which the service runs them. */
function filesOf(set: SchemaSet, service: Service): readonly ModuleFile[] {
  return services[service].flatMap(({ name: module }) =>
    set.files
      .filter(({ path }) => dirname(path) === folders[module])
      .map(({ path, text }) => ({ module, name: basename(path, '.sql'), text }))
      .toSorted((one, other) => (one.name < other.name ? -1 : 1)),
  )
}

/** As releases did that kept no checksums. */
async function installAsBefore(database: Database, files: readonly ModuleFile[]): Promise<void> {
  for (const { module, name, text } of files) {
    await database.query(
      `create table if not exists migrations_${module}
       (id serial primary key, name varchar(255) not null, run_on timestamp not null)`,
    )
    await database.query(text)
    await database.query(`insert into migrations_${module} (name, run_on) values ($1, now())`, [name])
  }
}

/** As releases since do, from their own files. */
async function installByRelease(connectionString: string, files: readonly ModuleFile[]): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'causeway-release-'))
  try {
    const modules = [...new Set(files.map(({ module }) => module))]
    const directories = modules.map((name) => ({ name, path: join(folder, name) }))
    for (const { path } of directories) await mkdir(path)
    for (const { module, name, text } of files) await writeFile(join(folder, module, `${name}.sql`), text)
    await migrate({ connectionString, directories })
  } finally {
    await rm(folder, { recursive: true })
  }
}

async function fill(database: Database, files: readonly ModuleFile[]): Promise<void> {
  const has = new Set(files.map(({ module, name }) => `${module}/${name}`))
  for (const { since, until, sql } of fillings)
    if (has.has(since) && !(until !== undefined && has.has(until))) await database.query(sql)
}

type Columns = Readonly<Record<string, readonly string[]>>

/** Columns of every table, without the history. */
async function columnsOf(database: Database): Promise<Columns> {
  const tables = await database.query<{ name: string; columns: readonly string[] }>(
    `select relname::text as name, array_agg(quote_ident(attname) order by attnum) as columns from pg_class
     join pg_attribute on attrelid = pg_class.oid and attnum > 0 and not attisdropped
     where relnamespace = 'public'::regnamespace and relkind = 'r' and relname not like 'migrations\\_%' group by 1`,
  )
  return Object.fromEntries(tables.map(({ name, columns }) => [name, columns]))
}

/** Rows that a migration adds to a table that may have some: 0059 copies there what the ledger alone had kept. */
const addedRows: Readonly<Record<string, string>> = { admin_action: `action = 'sponsor.unfreeze'` }

type Contents = Readonly<Record<string, { readonly rows: number; readonly digest: string | null }>>

/** Content of these columns, regardless of later ones. Bytes and their hex text count as one. */
async function contentsOf(database: Database, columns: Columns): Promise<Contents> {
  const contents: Record<string, Contents[string]> = {}
  for (const [table, names] of Object.entries(columns)) {
    const [row] = await database.query<Contents[string]>(
      `select count(*)::int as rows, md5(string_agg(line, ' ' order by line)) as digest
       from (select replace(to_json(t)::text, '\\\\x', '0x') as line from (select ${names.join(', ')} from ${table} where not (${addedRows[table] ?? 'false'})) t) l`,
    )
    if (row !== undefined) contents[table] = row
  }
  return contents
}

const schemaOf = async (database: Database) =>
  Object.fromEntries(
    (await describeSchema(database, 'public')).map(({ kind, name, definition }) => [
      `${kind} ${name}`,
      definition,
    ]),
  )

describe.each(['quoteApi', 'solver', 'oracle'] as const)('a database of %s', (service) => {
  const directories = services[service]
  let fresh: Readonly<Record<string, string>>
  beforeAll(async () => {
    fresh = await withDatabase(async (database, connectionString) => {
      await migrate({ connectionString, directories })
      return schemaOf(database)
    })
  })

  /** Sets that are alike for this service are one. */
  const own = sets
    .map((set) => ({ ...set, files: filesOf(set, service) }))
    .filter(({ files }) => files.length > 0)
    .filter(
      ({ files }, index, all) =>
        all.findIndex((set) => JSON.stringify(set.files) === JSON.stringify(files)) === index,
    )

  test.concurrent.each(own.map((set) => [set.title, set] as const))(
    'O-161: of %s gets the tables of a new one and keeps its rows and books',
    async (_title, { files, isUnfrozen }) => {
      await withDatabase(async (database, connectionString) => {
        await (isUnfrozen ? installAsBefore(database, files) : installByRelease(connectionString, files))
        await fill(database, files)
        const columns = await columnsOf(database)
        const before = await contentsOf(database, columns)
        const kept = Object.entries(before).filter(([, { rows }]) => rows > 0)
        await migrate({ connectionString, directories })
        expect(await schemaOf(database)).toEqual(fresh)
        const filled = Object.fromEntries(kept.map(([table]) => [table, columns[table] ?? []]))
        expect(await contentsOf(database, filled)).toEqual(Object.fromEntries(kept))
        if (service === 'quoteApi') expect(await verifyLedger(database)).toEqual([])
        expect(await migrate({ connectionString, directories })).toEqual([])
      })
    },
  )

  test.concurrent('no table of today is compared empty: a migration that adds one comes with its rows', async () => {
    await withDatabase(async (database) => {
      const files = own.at(-1)?.files ?? []
      await installAsBefore(database, files)
      await fill(database, files)
      const contents = await contentsOf(database, await columnsOf(database))
      expect(Object.keys(contents).length).toBeGreaterThan(3)
      expect(Object.entries(contents).filter(([, { rows }]) => rows === 0)).toEqual([])
    })
  })
})

/** The newest migration of each part of quote-api in a release. */
const releases = {
  '0.1.0': ['0013_plan_of_hold_facts', '0035_self_executed'],
  '0.2.0': ['0018_holds_of_sponsors', '0066_work_offers'],
}

/** Counts what is under way, and whose money it is. */
const underWaySql = `
  select 'order ' || status as what, count(*)::text as figure from orders where status in ('waiting', 'pending') group by 1
  union all select 'work ' || state, count(*)::text from work_item where state in ('open', 'reported') group by 1
  union all select 'hold ' || state, count(*) || ' of ' || sum(amount) from hold group by 1
  union all select 'sponsor ' || owner, (credits_posted - debits_posted - debits_pending)::text from account where kind = 'sponsor'
  order by 1`

test.each(Object.entries(releases))(
  'a database of release %s has open orders, holds and sponsors, and they are the same after the upgrade',
  async (_release, newest) => {
    const set = sets.find((one) => {
      const own = lastOf(filesOf(one, 'quoteApi'))
      return newest.every((name) => own.includes(name))
    })
    if (set === undefined) throw new Error('the sets have none of the release')
    const files = filesOf(set, 'quoteApi')
    await withDatabase(async (database, connectionString) => {
      await (set.isUnfrozen ? installAsBefore(database, files) : installByRelease(connectionString, files))
      await fill(database, files)
      const before = await database.query<{ what: string; figure: string }>(underWaySql)
      const kinds = new Set(before.map(({ what }) => what.replace(/(?<=sponsor ).*/, '')))
      for (const kind of ['order waiting', 'order pending', 'work open', 'hold reserved', 'sponsor '])
        expect([...kinds]).toContain(kind)
      await migrate({ connectionString, directories: services.quoteApi })
      expect(await database.query(underWaySql)).toEqual(before)
      expect(await verifyLedger(database)).toEqual([])
    })
  },
)

/** The newest of each module. */
function lastOf(files: readonly ModuleFile[]): readonly string[] {
  return [...new Map(files.map(({ module, name }) => [module, name])).values()]
}

test('P-45: what an earlier release parked for a trace is judged again, and nothing else is', async () => {
  await withDatabase(async (database, connectionString) => {
    const before = sets
      .map((set) => filesOf(set, 'quoteApi'))
      .find((files) => files.some(({ name }) => name === '0067_put_aside'))
    if (before === undefined) throw new Error('the release before is not known')
    await installByRelease(connectionString, before)
    await fill(database, before)
    await database.query(`update settlement set stage = 'parked', next_at = now() + interval '1 hour',
      parked_reason = (array['TRACE_NEEDED', 'REFUND_NEEDS_TRACE', 'FILL_NOT_SEEN'])[1 + get_byte(request_id, 1) % 3]`)
    const kept = await database.query<{ parked: bigint }>(
      `select count(*) as parked from settlement where parked_reason = 'FILL_NOT_SEEN'`,
    )
    await migrate({ connectionString, directories: services.quoteApi })
    const stages = await database.query<{ stage: string; expected: string; is_due: boolean }>(
      `select stage, next_at <= now() as is_due, case when get_byte(request_id, 1) % 3 = 2 then 'parked'
         when get_byte(request_id, 1) % 3 = 1 then 'refunding' when o.status = 'success' then 'filled' else 'filling' end as expected
       from settlement s join orders o using (request_id)`,
    )
    expect(new Set(stages.map(({ stage }) => stage))).toEqual(
      new Set(['parked', 'refunding', 'filled', 'filling']),
    )
    for (const { stage, expected, is_due } of stages)
      expect([stage, is_due]).toEqual([expected, expected !== 'parked'])
    expect(stages.filter(({ stage }) => stage === 'parked').length).toBe(Number(kept[0]?.parked))
  })
})
