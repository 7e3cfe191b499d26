import { mkdir, readdir, rename, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { ConfigurationError } from '@causeway/core'
import type { LocalPaths } from './localPaths.ts'
import { stopOrphanedDatabases } from './orphanedDatabases.ts'

const asidePrefix = 'before-'

/** Names that stay in their place: the run file names the running process, logs tell why the state went. */
const keptNames = (paths: LocalPaths) => [basename(paths.runFile), basename(paths.logs), asidePrefix]

/**
 * Creates the directory if need be. Its content may be wiped or moved later, so one that holds anything else
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
  for (const name of await stateNames(paths)) {
    await rm(join(paths.directory, name), { recursive: true, force: true })
  }
  await mkdir(paths.chains, { recursive: true })
}

/**
 * Moves all state into a folder beside it: nobody asked for it to go, and keys are kept nowhere else.
 * @returns that folder, or undefined where there was no state
 */
export async function setStateAside(paths: LocalPaths, now: Date): Promise<string | undefined> {
  const names = await stateNames(paths)
  const stamp = now.toISOString().slice(0, 19).replaceAll(':', '-')
  const aside = join(paths.directory, `${asidePrefix}${stamp}`)
  for (const name of names) {
    await mkdir(aside, { recursive: true })
    await rename(join(paths.directory, name), join(aside, name))
  }
  await mkdir(paths.chains, { recursive: true })
  return names.length === 0 ? undefined : aside
}

async function stateNames(paths: LocalPaths): Promise<readonly string[]> {
  await stopOrphanedDatabases(paths.directory)
  const kept = keptNames(paths)
  const names = await readdir(paths.directory)
  return names.filter((name) => !kept.some((keptName) => name.startsWith(keptName)))
}
