import { open } from 'node:fs/promises'
import { userInfo } from 'node:os'
import { ConfigurationError } from '@causeway/core'
import { backupDatabase, restoreDatabase } from '@causeway/database'
import { recordRestore } from '../wallet/stopSwitch.ts'
import type { SolverConfig } from './config.ts'
import { openDatabase } from './database.ts'

const backupUsage = 'Backups: backup > FILE, restore FILE.'

/**
 * `backup` writes all tables of the solver's database as text, from one snapshot, beside a running solver. `restore <file>`
 * fills an empty one with it, all or nothing, on which no solver runs, and writes a line of who did it.
 * @throws ConfigurationError for other words, and for what is no backup of this release or fits the database not
 */
export async function runBackupCommand(
  [command, path, ...more]: readonly string[],
  config: SolverConfig,
  write: (lines: string) => Promise<void>,
): Promise<void> {
  const isFit = more.length === 0 && (command === 'restore') === (path !== undefined)
  if (!isFit) throw new ConfigurationError(backupUsage)
  const opened = await openDatabase(config, { onConnectionLost: () => undefined, joinRunning: true })
  try {
    if (path === undefined) await backupDatabase(opened.database, write)
    else {
      await restoreDatabase(opened.database, linesOf(path), (tx) =>
        recordRestore(tx, { actor: `cli:${userInfo().username}`, path }),
      )
      await write('Restored.\n')
    }
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
