import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createDatabase, type Database, type DatabaseOptions } from './createDatabase.ts'
import { type EmbeddedPostgres, startEmbeddedPostgres } from './embedded/startEmbeddedPostgres.ts'
import { migrate } from './migrate.ts'
import type { MigrationDirectory } from './migrations/migrationFiles.ts'
import { startTestPostgres } from './startTestPostgres.ts'

/** A migrated database on an embedded server of its own, for tests. */
export type TestDatabase = {
  readonly database: Database
  readonly connectionString: string
  readonly server: EmbeddedPostgres
  readonly dataDirectory: string
  /** Closes the pool, stops the server by process id and deletes its files. */
  stop(): Promise<void>
}

/**
 * Starts a PostgreSQL for one test on a free port, migrated and without data. `durable: true` for tests that kill it;
 * `pool` changes options of the pool.
 */
export async function startTestDatabase(
  options: {
    directories?: readonly MigrationDirectory[]
    durable?: boolean
    pool?: Partial<DatabaseOptions>
  } = {},
): Promise<TestDatabase> {
  const { directories = [], durable = false, pool } = options
  const dataDirectory = await mkdtemp(join(tmpdir(), 'causeway-postgres-'))
  const server = await (durable
    ? startEmbeddedPostgres({ dataDirectory, durable })
    : startTestPostgres({ dataDirectory }))
  const { connectionString } = server
  await migrate({ connectionString, directories })
  const database = createDatabase({ connectionString, ...pool })
  return {
    database,
    connectionString,
    server,
    dataDirectory,
    async stop() {
      await database.close()
      await server.stop()
      await rm(dataDirectory, { recursive: true, force: true })
    },
  }
}
