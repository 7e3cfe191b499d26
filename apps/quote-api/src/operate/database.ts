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

/**
 * Opens the database at `DATABASE_URL`, or in `local` without one an embedded server in the local folder, and migrates it
 * to the newest schema. With `wait`, waits for a database that starts, recovers, is a standby or has a full disk.
 * @throws ConfigurationError for what waiting cannot mend
 */
export async function openDatabase(
  config: QuoteApiConfig,
  options: {
    onConnectionLost: (error: Error) => void
    log: (message: string) => void
    onDiskFull?: (full: DatabaseDiskFullError | undefined) => void
    /** Absent: a database that does not answer is an error at once. */
    wait?: DatabaseWait
    /** For commands: uses the embedded server that a running service owns. */
    joinRunning?: boolean
    /** Default as in `createDatabase`. */
    statementTimeoutMs?: number
  },
): Promise<OpenDatabase> {
  const { url, poolSize, port } = config.database
  const running =
    url === undefined && options.joinRunning === true ? await findRunning(config.localDirectory) : undefined
  const embedded =
    url === undefined && running === undefined
      ? await startEmbedded(config.localDirectory, port, options.log)
      : undefined
  const connectionString = running ?? embedded?.connectionString ?? url?.reveal() ?? ''
  const opening = openWhenUp(
    {
      connectionString,
      poolSize,
      directories: schemaModules,
      log: options.log,
      setting: url === undefined ? 'CAUSEWAY_LOCAL_DIR' : 'DATABASE_URL',
      applicationName: 'causeway-quote-api',
      onConnectionLost: options.onConnectionLost,
      ...(options.onDiskFull !== undefined && { onDiskFull: options.onDiskFull }),
      ...(options.statementTimeoutMs !== undefined && { statementTimeoutMs: options.statementTimeoutMs }),
    },
    url && options.wait,
  )
  const database = await opening.catch(async (error: unknown) => {
    await embedded?.stop()
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
        onConnectionLost: options.onConnectionLost,
      }),
    listen: (handlers) =>
      startListening({ ...handlers, connectionString, applicationName: 'causeway-quote-api-status' }),
    async close() {
      await database.close()
      await embedded?.stop()
    },
  }
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

const dataDirectoryOf = (localDirectory: string) => join(localDirectory, 'postgres')

function findRunning(localDirectory: string): Promise<string | undefined> {
  return findEmbeddedPostgres({ dataDirectory: dataDirectoryOf(localDirectory) })
}

async function startEmbedded(
  localDirectory: string,
  port: number | undefined,
  log: (message: string) => void,
) {
  await mkdir(localDirectory, { recursive: true })
  return startEmbeddedPostgres({
    dataDirectory: dataDirectoryOf(localDirectory),
    log,
    ...(port !== undefined && { port }),
  })
}
