import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import {
  createDatabase,
  type Database,
  type DatabaseDiskFullError,
  DatabaseStartingError,
  findEmbeddedPostgres,
  type ListenOptions,
  type MigratedOptions,
  type MigrationDirectory,
  openMigrated,
  startEmbeddedPostgres,
  startListening,
  whileStarting,
} from '@causeway/database'
import { ledgerMigrations } from '@causeway/ledger'
import type { QuoteApiConfig } from '../config/config.ts'
import type { DatabaseWait } from './databaseWait.ts'

/** The open database of quote-api, and ways to more connections. */
export type OpenDatabase = {
  readonly database: Database
  /** Opens another pool with one connection; the caller closes it. */
  openSingle(options?: { readonly statementTimeoutMs?: number }): Database
  /** Listens to a notification channel on a connection of its own; the caller closes it. */
  listen(options: Omit<ListenOptions, 'connectionString' | 'applicationName'>): { close(): Promise<void> }
  /** Closes the pool, and the server where this process started it. */
  close(): Promise<void>
}

/** Migrations of the database, in their order. */
export const schemaModules: readonly MigrationDirectory[] = [
  { name: 'ledger', path: ledgerMigrations },
  {
    name: 'quote_api',
    path: fileURLToPath(new URL('../../migrations', import.meta.url)),
    // A released migration got another number, because two branches had taken the same one.
    renamed: { '0053_superseded_orders': '0054_superseded_orders' },
  },
]

type OpenDatabaseOptions = {
  readonly onConnectionLost: (error: Error) => void
  readonly log: (message: string) => void
  readonly onDiskFull?: (full: DatabaseDiskFullError | undefined) => void
  /** Absent: a database that does not answer is an error at once. */
  readonly wait?: DatabaseWait
  /** For commands: uses the embedded server that a running service owns. */
  readonly joinRunning?: boolean
  /** Default as in `createDatabase`. */
  readonly statementTimeoutMs?: number
}

/**
 * Opens the database at `DATABASE_URL`, or in `local` without one an embedded server in the local folder, and migrates it
 * to the newest schema. With `wait`, waits for a database that starts, recovers, is a standby or has a full disk.
 * @throws ConfigurationError for a problem that waiting cannot mend
 */
export async function openDatabase(
  config: QuoteApiConfig,
  options: OpenDatabaseOptions,
): Promise<OpenDatabase> {
  const { url, poolSize } = config.database
  const { onConnectionLost, onDiskFull, statementTimeoutMs, log, wait } = options
  const server = await openServer(config, options)
  const { connectionString } = server
  const migrated: MigratedOptions = {
    connectionString,
    poolSize,
    directories: schemaModules,
    log,
    setting: url === undefined ? 'CAUSEWAY_LOCAL_DIR' : 'DATABASE_URL',
    applicationName: 'causeway-quote-api',
    onConnectionLost,
    ...(onDiskFull !== undefined && { onDiskFull }),
    ...(statementTimeoutMs !== undefined && { statementTimeoutMs }),
  }
  // An embedded server runs already, so only another one is waited for.
  const opening = openWhenUp(migrated, url === undefined ? undefined : wait)
  const database = await opening.catch(async (error: unknown) => {
    await server.stop()
    throw error
  })
  return {
    database,
    openSingle: (connectionOptions) =>
      createDatabase({
        ...connectionOptions,
        connectionString,
        poolSize: 1,
        applicationName: 'causeway-quote-api-jobs',
        onConnectionLost,
      }),
    listen: (handlers) =>
      startListening({ ...handlers, connectionString, applicationName: 'causeway-quote-api-status' }),
    async close() {
      await database.close()
      await server.stop()
    },
  }
}

/** The server to connect to. `stop` ends a server that this process started, and leaves any other alone. */
type DatabaseServer = { readonly connectionString: string; stop(): Promise<void> }

async function openServer(
  { database: { url, port }, localDirectory }: QuoteApiConfig,
  { joinRunning, log }: OpenDatabaseOptions,
): Promise<DatabaseServer> {
  const leaveAlone = async () => {}
  if (url !== undefined) return { connectionString: url.reveal(), stop: leaveAlone }
  const dataDirectory = join(localDirectory, 'postgres')
  const running = joinRunning === true ? await findEmbeddedPostgres({ dataDirectory }) : undefined
  if (running !== undefined) return { connectionString: running, stop: leaveAlone }
  await mkdir(localDirectory, { recursive: true })
  return startEmbeddedPostgres({ dataDirectory, log, ...(port !== undefined && { port }) })
}

/** Time until a running migration is shown. Migrations of small tables take less; liveness probes wait longer. */
const quietMigrationMs = 1_000

async function openWhenUp(options: MigratedOptions, wait: DatabaseWait | undefined): Promise<Database> {
  for (;;) {
    try {
      const opening = openMigrated(options)
      return await (wait === undefined ? opening : showLongMigration(opening, wait))
    } catch (error) {
      const problem = whileStarting(error)
      if (wait === undefined || problem === undefined) throw error
      await wait.pause(problem)
    }
  }
}

/**
 * Answers on the ports while a migration takes long, because of many rows or of another process that migrates: a probe
 * that took this process for dead would restart it and undo the work.
 */
async function showLongMigration<T>(migrating: Promise<T>, wait: DatabaseWait): Promise<T> {
  const isDone = new AbortController()
  const showing = sleep(quietMigrationMs, undefined, { signal: isDone.signal }).then(
    () => wait.show(new DatabaseStartingError()),
    () => undefined,
  )
  // `finally` awaits and reports its error; this only keeps Node from ending the process before.
  showing.catch(() => {})
  try {
    return await migrating
  } finally {
    isDone.abort()
    await showing
  }
}
