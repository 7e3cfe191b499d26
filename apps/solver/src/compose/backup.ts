import { open } from 'node:fs/promises'
import { userInfo } from 'node:os'
import { ConfigurationError, type SqlDatabase } from '@causeway/core'
import { backupDatabase, restoreDatabase } from '@causeway/database'
import { recordRestore } from '../wallet/stopSwitch.ts'
import type { SolverConfig } from './config.ts'
import { openDatabase } from './database.ts'

/** Writes all tables of the solver's database as text, from one snapshot; the solver may run meanwhile. */
export async function backup(config: SolverConfig, write: (lines: string) => Promise<void>): Promise<void> {
  await withDatabase(config, (database) => backupDatabase(database, write))
}

/**
 * Fills an empty database from a backup in one transaction, and writes the audit. No solver may run on it.
 * @throws ConfigurationError for a file that is no backup of this release, and for a database that is not empty
 */
export async function restore(config: SolverConfig, path: string): Promise<string> {
  await withDatabase(config, (database) =>
    restoreDatabase(database, linesOf(path), (tx) =>
      recordRestore(tx, { actor: `cli:${userInfo().username}`, path }),
    ),
  )
  return 'Restored.'
}

/** Opens the database for a command, whether a solver runs or not. */
export async function withDatabase<T>(
  config: SolverConfig,
  work: (database: SqlDatabase) => Promise<T>,
): Promise<T> {
  const opened = await openDatabase(config, { onConnectionLost: () => undefined, joinRunning: true })
  try {
    return await work(opened.database)
  } finally {
    await opened.close()
  }
}

/** @throws ConfigurationError */
async function* linesOf(path: string): AsyncGenerator<string> {
  const file = await open(path).catch((error: unknown) => {
    throw new ConfigurationError(`The file ${path} cannot be read.`, { cause: error })
  })
  yield* file.readLines()
}
