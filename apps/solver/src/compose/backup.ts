import { open } from 'node:fs/promises'
import { userInfo } from 'node:os'
import { ConfigurationError, type SqlDatabase } from '@causeway/core'
import { backupDatabase, restoreDatabase } from '@causeway/database'
import { recordRestore } from '../wallet/stopSwitch.ts'
import type { SolverConfig } from './config.ts'
import { openDatabase } from './database.ts'

/** Writes all tables of the solver's database as text, from one snapshot, beside a running solver. */
export async function backup(config: SolverConfig, write: (lines: string) => Promise<void>): Promise<void> {
  await withDatabase(config, (database) => backupDatabase(database, write))
}

/**
 * Fills an empty database, all or nothing, on which no solver runs, and writes a line of who did it.
 * @throws ConfigurationError for what is no backup of this release or fits the database not
 */
export async function restore(config: SolverConfig, path: string): Promise<string> {
  await withDatabase(config, (database) =>
    restoreDatabase(database, linesOf(path), (tx) =>
      recordRestore(tx, { actor: `cli:${userInfo().username}`, path }),
    ),
  )
  return 'Restored.'
}

/** Beside a running solver, or without one. */
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
