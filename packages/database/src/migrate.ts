import { runner } from 'node-pg-migrate'
import pg from 'pg'
import { DatabaseStartingError } from './errors.ts'

/** Migrations of one module: `NNNN_name.sql` files, applied in name order, each once. */
export type MigrationDirectory = {
  /** Lower-case name of the module; its history is the table `migrations_<name>`. */
  readonly name: string
  /** Absolute path. */
  readonly path: string
}

const connectTimeoutMs = 10_000

/** What a plain SQL file has to hold to be a migration: no way back. */
const namePattern = /^[a-z][a-z0-9_]{0,40}$/

/**
 * Brings the schema to the newest state; forward only. Modules run in the given order, each in one
 * transaction with its history. Starts at the same time wait for each other.
 * @returns names of the migrations that ran, `<module>/<file>`
 * @throws the driver's error with the failing statement; nothing of that module was applied.
 * DatabaseStartingError for a standby: it takes connections and no writes
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
  // Of our own: the runner does not wait for the end of one that it opens, and does not hear its errors.
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: connectTimeoutMs })
  // Connections that break are reported by their statements as well.
  client.on('error', () => {})
  await client.connect()
  try {
    await requireWritable(client)
    return await migrateOn(client, directories, log)
  } finally {
    await client.end()
  }
}

/** A standby with every migration would be used, and refuse every quote. */
async function requireWritable(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ standby: boolean }>('select pg_is_in_recovery() as standby')
  if (rows[0]?.standby === true) throw new DatabaseStartingError()
}

async function migrateOn(
  client: pg.Client,
  directories: readonly MigrationDirectory[],
  log: (message: string) => void,
): Promise<readonly string[]> {
  const applied: string[] = []
  for (const { name, path } of directories) {
    const ran = await runner({
      dbClient: client,
      dir: path,
      direction: 'up',
      migrationsTable: `migrations_${name}`,
      checkOrder: true,
      singleTransaction: true,
      advisoryLockMode: 'wait',
      log: () => {},
    })
    for (const migration of ran) {
      applied.push(`${name}/${migration.name}`)
      log(`Applied the migration ${name}/${migration.name}.`)
    }
  }
  return applied
}
