import { mkdir, readdir, rename } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { ConfigurationError } from '@causeway/core'
import type { LocalPaths } from './localPaths.ts'
import { stopOrphanedDatabases } from './orphanedDatabases.ts'

const asidePrefix = 'release-'

/**
 * Names that stay in their place: the run file names the running process, logs tell why the state went, and what was
 * moved aside, for a while as `before-`, is nobody's to move again.
 */
const keptNames = (paths: LocalPaths) => [
  basename(paths.runFile),
  basename(paths.logs),
  asidePrefix,
  'before-',
]

/**
 * Creates the directory if need be. Its content may be moved later, so one that holds anything else
 * than a local network is refused. @throws ConfigurationError
 */
export async function prepareDirectory(paths: LocalPaths): Promise<void> {
  await mkdir(paths.directory, { recursive: true })
  const names = await readdir(paths.directory)
  const ours = [paths.runFile, paths.logs, paths.chains, paths.keyFile, paths.manifest].map((p) =>
    basename(p),
  )
  if (names.length > 0 && !names.some((name) => ours.includes(name))) {
    // A service that ran there by itself has keys and balances, which would be moved away from it.
    const held = `${paths.directory} holds other files (${names[0]})`
    throw new ConfigurationError(
      `${held}: a local network needs its own folder. Name one in CAUSEWAY_LOCAL_DIR, or remove what is there.`,
    )
  }
  await Promise.all([mkdir(paths.chains, { recursive: true }), mkdir(paths.logs, { recursive: true })])
}

/**
 * Moves all state (keys, chains, databases and whatever else services kept here) into a folder beside it: keys are
 * kept nowhere else. The folder is a whole one, with which the release that made it goes on.
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
