import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { DatabaseStartingError, sqlState, whileStarting } from './errors.ts'
import { catalogOf, describeSchema, missingFrom } from './migrations/describeSchema.ts'
import { historyColumns, historyOf, readHistory } from './migrations/history.ts'
import { failedMigration, otherSchema } from './migrations/migrationErrors.ts'
import { type MigrationDirectory, type MigrationFile, readMigrations } from './migrations/migrationFiles.ts'
import { type AppliedMigration, type MigrationPlan, planMigrations } from './migrations/migrationPlan.ts'

const connectTimeoutMs = 10_000

/** Allowed form of a module's name, which becomes part of a table name. */
const namePattern = /^[a-z][a-z0-9_]{0,40}$/

/** Advisory lock of all migrations; the same in every release, so that their starts take turns. */
const lockId = '7241865325823964'

/** Longest wait for a table's lock; short, because later users of the table queue behind the waiting statement. */
const lockTimeoutMs = 2_000
const lockTriesMax = 10
const lockPauseMs = 1_000
/** PostgreSQL's states of a lock that was not granted in time, and of a deadlock. */
const lockFailures: ReadonlySet<string> = new Set(['55P03', '40P01'])

/** A module with its migration files, in their order. */
type Module = MigrationDirectory & { readonly files: readonly MigrationFile[] }

/**
 * Brings the schema to the newest state when a service starts; forward only. The missing migrations of all modules, in
 * the given order, and their history are one transaction. Concurrent starts wait for each other.
 * @returns names of the migrations that ran, `<module>/<name>`
 * @throws SchemaRefusedError for a database that ran other migrations, MigrationFailedError for one that cannot be
 * applied; the driver's error, or DatabaseStartingError for a standby, where waiting or another address may help.
 * Nothing was applied then
 */
export async function migrate(options: {
  connectionString: string
  directories: readonly MigrationDirectory[]
  log?: (message: string) => void
}): Promise<readonly string[]> {
  const { connectionString, directories, log = () => {} } = options
  for (const { name } of directories) {
    if (!namePattern.test(name)) throw new RangeError('a migration directory needs a lower-case name')
  }
  const modules = await Promise.all(
    directories.map(async (directory) => ({ ...directory, files: await readMigrations(directory.path) })),
  )
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: connectTimeoutMs })
  // A connection that breaks fails its statements too. Without a listener, the event would end the process.
  client.on('error', () => {})
  await client.connect()
  try {
    await requireWritable(client)
    return await migrateOnceUnlocked(client, modules, log)
  } finally {
    await client.end()
  }
}

/** Refuses a standby. One that has all migrations would pass otherwise, and the service would fail every write. */
async function requireWritable(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ standby: boolean }>('select pg_is_in_recovery() as standby')
  if (rows[0]?.standby === true) throw new DatabaseStartingError()
}

/**
 * Migrates, and retries while tables are in use. It waits between transactions, because a wait inside would block
 * users.
 */
async function migrateOnceUnlocked(
  client: pg.Client,
  modules: readonly Module[],
  log: (message: string) => void,
): Promise<readonly string[]> {
  for (let tries = 1; ; tries += 1) {
    try {
      const applied = await inTransaction(client, () => migrateModules(client, modules, log))
      for (const name of applied) log(`Applied the migration ${name}.`)
      return applied
    } catch (error) {
      // `apply` wraps the driver's error.
      const state = error instanceof Error ? sqlState(error.cause) : undefined
      if (state === undefined || !lockFailures.has(state) || tries >= lockTriesMax) throw error
      log(`Tables that a migration changes are in use; try ${tries} of ${lockTriesMax}.`)
      await sleep(lockPauseMs)
    }
  }
}

async function inTransaction<T>(client: pg.Client, work: () => Promise<T>): Promise<T> {
  await client.query('begin')
  try {
    const result = await work()
    await client.query('commit')
    return result
  } catch (error) {
    // The server rolls back by itself on a lost connection.
    await client.query('rollback').catch(() => {})
    throw error
  }
}

async function migrateModules(
  client: pg.Client,
  modules: readonly Module[],
  log: (message: string) => void,
): Promise<readonly string[]> {
  await takeTurn(client, log)
  const plans: { readonly module: Module; readonly plan: MigrationPlan }[] = []
  for (const module of modules) {
    const applied = await openHistory(client, module.name)
    const plan = planMigrations({ ...module, applied })
    plans.push({ module, plan })
    if (plan.newer.length > 0)
      log(`A later release ran ${plan.newer.join(', ')} of ${module.name}, and lets this one run.`)
  }
  const names = plans.flatMap(({ module, plan }) => plan.toRun.map(({ name }) => `${module.name}/${name}`))
  const [first, last] = [names[0], names.at(-1)]
  if (first !== undefined)
    log(
      first === last
        ? `Applying the migration ${first}.`
        : `Applying ${names.length} migrations, ${first} to ${last}.`,
    )
  for (const { module, plan } of plans) {
    for (const file of plan.toRun) await apply(client, migrationSubject(module.name, file), file.text)
    await writeHistory(client, module.name, plan)
  }
  // Uncertain: a history without checksums, or one that lacked a file before its last one.
  if (plans.some(({ plan }) => plan.isUncertain)) await compareTables(client, modules, log)
  return names
}

/**
 * Takes the lock of migrations, which is held until the transaction ends. Lifts the time limits that are set for
 * ordinary statements, except that tables are waited for only briefly.
 */
async function takeTurn(client: pg.Client, log: (message: string) => void): Promise<void> {
  await client.query(
    'set local statement_timeout = 0; set local lock_timeout = 0; set local idle_in_transaction_session_timeout = 0',
  )
  const { rows } = await client.query<{ mine: boolean }>(
    `select pg_try_advisory_xact_lock(${lockId}) as mine`,
  )
  if (rows[0]?.mine !== true) {
    log('Another process migrates this database; its end is waited for.')
    await client.query(`select pg_advisory_xact_lock(${lockId})`)
  }
  await client.query(`set local lock_timeout = ${lockTimeoutMs}`)
}

/** Reads a module's history; creates its table, or adds the columns that older releases did not have. */
async function openHistory(client: pg.Client, module: string): Promise<readonly AppliedMigration[]> {
  const history = historyOf(module)
  const make = `create table ${history} (id serial primary key, name varchar(255) not null, run_on timestamp not null)`
  const extend = `alter table ${history} add column checksum text, add column stops_older boolean`
  const subject = `the history of ${module}`
  const columns = await historyColumns(catalogOf(client), module)
  if (columns.size === 0) await apply(client, subject, make)
  if (!columns.has('checksum')) await apply(client, subject, extend)
  const hasChecksums = true
  return readHistory(catalogOf(client), module, hasChecksums)
}

const migrationSubject = (module: string, { name }: MigrationFile) => `the migration ${module}/${name}.sql`

async function apply(client: pg.Client, subject: string, text: string): Promise<void> {
  try {
    await client.query(text)
  } catch (error) {
    // A server that stops or a disk that is full is waited for: nothing is wrong with the text.
    throw whileStarting(error) === undefined ? failedMigration(subject, text, error) : error
  }
}

/**
 * Brings a module's history up to date: rows whose file has another name by now are renamed, rows of releases
 * without checksums get theirs, and migrations that ran just now are added.
 */
async function writeHistory(client: pg.Client, module: string, plan: MigrationPlan): Promise<void> {
  const history = historyOf(module)
  for (const { from, to } of plan.renamed)
    await client.query(`update ${history} set name = $2 where name = $1`, [from, to])
  for (const { name, checksum, stopsOlder } of plan.adopted)
    await client.query(`update ${history} set checksum = $2, stops_older = $3 where name = $1`, [
      name,
      checksum,
      stopsOlder,
    ])
  for (const { name, checksum, stopsOlder } of plan.toRun)
    await client.query(
      `insert into ${history} (name, run_on, checksum, stops_older) values ($1, now(), $2, $3)`,
      [name, checksum, stopsOlder],
    )
}

/** Schema for a trial run of the migration files, which shows the expected tables; never committed. */
const trialSchema = 'causeway_expected'

/**
 * Compares the tables with what the migration files make. For that it runs all files in an empty trial schema, which is
 * rolled back. Needed where the history does not prove which texts ran.
 * @throws SchemaRefusedError with what differs
 */
async function compareTables(
  client: pg.Client,
  modules: readonly Module[],
  log: (message: string) => void,
): Promise<void> {
  const { rows } = await client.query<{ schema: string; mayCompare: boolean }>(
    `select current_schema() as schema, has_database_privilege(current_database(), 'create') as "mayCompare"`,
  )
  const [target] = rows
  if (target?.mayCompare !== true) {
    log('The user may make no schema, so the tables that were there are taken as they are, unseen.')
    return
  }
  const catalog = catalogOf(client)
  const actual = await describeSchema(catalog, target.schema)
  await client.query(
    `savepoint besides; create schema ${trialSchema}; set local search_path to ${trialSchema}`,
  )
  for (const { name, files } of modules)
    for (const file of files) await apply(client, migrationSubject(name, file), file.text)
  const expected = await describeSchema(catalog, trialSchema)
  await client.query('rollback to savepoint besides')
  const differences = missingFrom(actual, expected)
  if (differences.length > 0) throw otherSchema(differences)
  log('The tables that were there are what the migrations make; the history has checksums now.')
}
