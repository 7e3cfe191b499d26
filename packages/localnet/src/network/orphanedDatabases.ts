import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { startEmbeddedPostgres } from '@causeway/database'

/**
 * Ends the embedded databases whose service was killed: each runs in a process group of its own and
 * outlives its owner. A database whose service lives is not touched.
 * @throws ConfigurationError when a living process owns one
 */
export async function stopOrphanedDatabases(directory: string): Promise<void> {
  const folders = (await readdir(directory)).map((name) => join(directory, name))
  await Promise.all(
    folders
      .filter((folder) => existsSync(join(folder, 'cluster', 'postmaster.pid')))
      .map(async (dataDirectory) => {
        // Only its owner may stop a database: this start takes it over from the service that died.
        const database = await startEmbeddedPostgres({ dataDirectory })
        await database.stop()
      }),
  )
}
