import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { ConfigurationError } from '@causeway/core'
import { createDatabase, type Database, migrate, sqlState, startEmbeddedPostgres } from '@causeway/database'
import type { QuoteApiConfig } from './config.ts'

export type OpenDatabase = {
  readonly database: Database
  /** Closes the pool, and the server where this process started it. */
  close(): Promise<void>
}

/**
 * The database at `DATABASE_URL`, or in `local` without one an embedded server under the local folder;
 * migrated to the newest schema. @throws ConfigurationError, or the driver's error of a migration
 */
export async function openDatabase(
  config: QuoteApiConfig,
  options: { migrations: string; onConnectionLost: (error: Error) => void; log: (message: string) => void },
): Promise<OpenDatabase> {
  const { url, poolSize, port } = config.database
  const embedded =
    url === undefined ? await startEmbedded(config.localDirectory, port, options.log) : undefined
  const connectionString = embedded?.connectionString ?? url?.reveal() ?? ''
  try {
    const directories = [{ name: 'quote_api', path: options.migrations }]
    await migrate({ connectionString, directories, log: options.log })
  } catch (error) {
    await embedded?.stop()
    throw isUnreachable(error) && url !== undefined
      ? new ConfigurationError(`The database of DATABASE_URL cannot be used (${sqlState(error)}).`, {
          cause: error,
        })
      : error
  }
  const database = createDatabase({
    connectionString,
    poolSize,
    applicationName: 'causeway-quote-api',
    onConnectionLost: options.onConnectionLost,
  })
  return {
    database,
    async close() {
      await database.close()
      await embedded?.stop()
    },
  }
}

async function startEmbedded(
  localDirectory: string,
  port: number | undefined,
  log: (message: string) => void,
) {
  await mkdir(localDirectory, { recursive: true })
  return startEmbeddedPostgres({
    dataDirectory: join(localDirectory, 'postgres'),
    log,
    ...(port !== undefined && { port }),
  })
}

/** Sockets, refused logins, databases that do not exist: an address to mend, not a migration. */
function isUnreachable(error: unknown): boolean {
  return /^(E[A-Z]|08|28|3D|57P)/.test(sqlState(error) ?? '')
}
