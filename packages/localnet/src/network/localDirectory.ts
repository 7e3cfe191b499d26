import { mkdir, readdir, rename } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { ConfigurationError } from '@causeway/core'
import type { LocalPaths } from './localPaths.ts'
import { stopOrphanedDatabases } from './orphanedDatabases.ts'

const asidePrefix = 'release-'

/**
 * Beginnings of the names that `setStateAside` leaves in place: the run file of the running process, logs, and folders
 * that an earlier call moved aside; an earlier release named these `before-`.
 */
const keptNames = (paths: LocalPaths) => [
  basename(paths.runFile),
  basename(paths.logs),
  asidePrefix,
  'before-',
]

/**
 * Creates the directory if need be. A start may move its content later, so a directory with files and without a local
 * network is refused. @throws ConfigurationError
 */
export async function prepareDirectory(paths: LocalPaths): Promise<void> {
  await mkdir(paths.directory, { recursive: true })
  const names = await readdir(paths.directory)
  const networkPaths = [paths.runFile, paths.logs, paths.chains, paths.keyFile, paths.manifest]
  const ours = networkPaths.map((path) => basename(path))
  if (names.length > 0 && !names.some((name) => ours.includes(name))) {
    // A service that ran there without a local network has keys and balances, which would be moved away from it.
    const held = `${paths.directory} holds other files (${names[0]})`
    throw new ConfigurationError(
      `${held}: a local network needs its own folder. Name one in CAUSEWAY_LOCAL_DIR, or remove what is there.`,
    )
  }
  await Promise.all([mkdir(paths.chains, { recursive: true }), mkdir(paths.logs, { recursive: true })])
}

/**
 * Moves all state (keys, chains, databases and other files of services) into a folder of the directory, because keys are
 * kept nowhere else. The release that made the state can continue from that folder.
 * @returns that folder, or undefined where there was no state
 */
export async function setStateAside(
  paths: LocalPaths,
  { now, release }: { readonly now: Date; readonly release: string },
): Promise<string | undefined> {
  const names = await stateNames(paths)
  const stamp = now.toISOString().slice(0, 19).replaceAll(':', '-')
  const aside = join(paths.directory, `${asidePrefix}${release}-${stamp}`)
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
