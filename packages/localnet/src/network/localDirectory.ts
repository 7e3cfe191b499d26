import { mkdir, readdir, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { ConfigurationError } from '@causeway/core'
import type { LocalPaths } from './localPaths.ts'
import { stopOrphanedDatabases } from './orphanedDatabases.ts'

/** What a wipe leaves: the run file names the running process, and logs tell why the state went. */
const keptNames = (paths: LocalPaths) => [basename(paths.runFile), basename(paths.logs)]

/**
 * Creates the directory if need be. Its content may be wiped later, so one that holds anything else
 * than a local network is refused. @throws ConfigurationError
 */
export async function prepareDirectory(paths: LocalPaths): Promise<void> {
  await mkdir(paths.directory, { recursive: true })
  const names = await readdir(paths.directory)
  const ours = [paths.runFile, paths.logs, paths.chains, paths.keyFile, paths.manifest].map((p) =>
    basename(p),
  )
  if (names.length > 0 && !names.some((name) => ours.includes(name))) {
    // A service that ran there by itself has keys and balances, which a wipe would take.
    const held = `${paths.directory} holds other files (${names[0]})`
    throw new ConfigurationError(
      `${held}: a local network needs its own folder. Name one in CAUSEWAY_LOCAL_DIR, or remove what is there.`,
    )
  }
  await Promise.all([mkdir(paths.chains, { recursive: true }), mkdir(paths.logs, { recursive: true })])
}

/** Removes all state: keys, chains, databases and whatever else the services kept here. */
export async function wipeState(paths: LocalPaths): Promise<void> {
  await stopOrphanedDatabases(paths.directory)
  const kept = keptNames(paths)
  const names = await readdir(paths.directory)
  await Promise.all(
    names
      .filter((name) => !kept.some((keptName) => name.startsWith(keptName)))
      .map((name) => rm(join(paths.directory, name), { recursive: true, force: true })),
  )
  await mkdir(paths.chains, { recursive: true })
}
