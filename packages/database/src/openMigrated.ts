import { ConfigurationError, DomainError, UpstreamUnavailableError } from '@causeway/core'
import { UnfitSettingsError } from '@causeway/core/config'
import pg from 'pg'
import { createDatabase, type Database, type DatabaseOptions } from './createDatabase.ts'
import { sqlState } from './errors.ts'
import { migrate } from './migrate.ts'
import type { MigrationDirectory } from './migrations/migrationFiles.ts'
import { LimitNotKeptError } from './session.ts'

export type MigratedOptions = DatabaseOptions & {
  /** Environment variable that names the database. */
  readonly setting: string
  readonly directories: readonly MigrationDirectory[]
  readonly log?: (message: string) => void
}

/**
 * Migrates a database when a service starts, and opens a pool whose first connection works.
 * @throws UnfitSettingsError for a schema that is refused; ConfigurationError for a database that cannot be used, with
 * the setting and the server's own message. `whileStarting` tells whether waiting may help
 */
export async function openMigrated(options: MigratedOptions): Promise<Database> {
  const { setting, directories, log, ...pool } = options
  let database: Database | undefined
  try {
    await migrate({ connectionString: pool.connectionString, directories, ...(log !== undefined && { log }) })
    database = createDatabase(pool)
    await firstPing(database)
    return database
  } catch (error) {
    await database?.close()
    throw startingError(setting, error)
  }
}

const firstPingsMax = 10

/**
 * Pings until the first connection works: on a busy machine it may take longer than one ping waits. A
 * refusal, which has a code, is thrown immediately.
 */
async function firstPing(database: Database): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await database.ping()
    } catch (error) {
      if (tries === firstPingsMax || refusalOf(originOf(error)) !== undefined) throw error
    }
  }
}

/** The driver's error behind an error for callers, where there is one. */
function originOf(error: unknown): unknown {
  return error instanceof UpstreamUnavailableError ? (error.cause ?? error) : error
}

function startingError(setting: string, error: unknown): unknown {
  if (error instanceof UnfitSettingsError)
    return new UnfitSettingsError(error.findings.map((finding) => ({ ...finding, setting })))
  const cause = originOf(error)
  const refusal = refusalOf(cause)
  if (refusal === undefined) return error
  return new ConfigurationError(`The database of ${setting} cannot be used${refusal}.`, { cause })
}

/**
 * Text about a refused connection, to follow "cannot be used": the error's code and the server's message, which names
 * user and database at most. Messages of the driver and of Node may quote the connection string with its password, so
 * only their code is shown. Undefined for an error without a code.
 */
export function refusalOf(error: unknown): string | undefined {
  if (error instanceof LimitNotKeptError) return `: ${error.message}`
  const code = error instanceof DomainError ? error.code : sqlState(error)
  const words = error instanceof pg.DatabaseError ? `: ${error.message}` : ''
  return code === undefined ? undefined : ` (${code})${words}`
}
