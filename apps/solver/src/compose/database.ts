import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  createDatabase,
  type Database,
  findEmbeddedPostgres,
  type MigrationDirectory,
  openMigrated,
  startEmbeddedPostgres,
} from '@causeway/database'
import type { SolverConfig } from './config.ts'

/** Folders of migrations. */
export const schemaModules: readonly MigrationDirectory[] = [
  { name: 'solver', path: fileURLToPath(new URL('../../migrations', import.meta.url)) },
]

export type OpenDatabase = {
  readonly database: Database
  /** Opens another pool, of one connection for leases; `close` closes it too. */
  openSingle(): Database
  close(): Promise<void>
}

/**
 * The solver's own database at `DATABASE_URL`; in `local` without that variable, an embedded server under the local folder.
 * Nothing else may write to it, because it decides what was paid.
 * @param options.joinRunning for commands: uses the embedded server that a running solver owns
 * @throws ConfigurationError for errors that waiting does not mend
 */
export async function openDatabase(
  { databaseUrl, localDirectory }: Pick<SolverConfig, 'databaseUrl' | 'localDirectory'>,
  options: { readonly onConnectionLost: (error: Error) => void; readonly joinRunning?: boolean },
): Promise<OpenDatabase> {
  const dataDirectory = join(localDirectory, 'solver-postgres')
  const running =
    databaseUrl === undefined && options.joinRunning === true
      ? await findEmbeddedPostgres({ dataDirectory })
      : undefined
  const embedded =
    databaseUrl === undefined && running === undefined ? await startEmbedded(dataDirectory) : undefined
  // One of the three is set.
  const connectionString = databaseUrl?.reveal() ?? running ?? embedded?.connectionString ?? ''
  const shared = { connectionString, onConnectionLost: options.onConnectionLost }
  const opening = openMigrated({
    ...shared,
    applicationName: 'causeway-solver',
    directories: schemaModules,
    setting: databaseUrl === undefined ? 'CAUSEWAY_LOCAL_DIR' : 'DATABASE_URL',
  })
  const database = await opening.catch(async (error: unknown) => {
    await embedded?.stop()
    throw error
  })
  const singles: Database[] = []
  return {
    database,
    openSingle() {
      const single = createDatabase({ ...shared, poolSize: 1, applicationName: 'causeway-solver-lease' })
      singles.push(single)
      return single
    },
    async close() {
      await Promise.all([database, ...singles].map((one) => one.close()))
      await embedded?.stop()
    },
  }
}

async function startEmbedded(dataDirectory: string) {
  await mkdir(join(dataDirectory, '..'), { recursive: true })
  return startEmbeddedPostgres({ dataDirectory })
}
