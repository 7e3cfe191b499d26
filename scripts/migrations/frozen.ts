import { migrationChecksum } from '@causeway/database'
import type { RepositoryFile } from '../checks/finding.ts'

/** The frozen migrations: a line each, as `sha256sum` writes it, in the order in which they were frozen. */
export const frozenFile = 'scripts/migrations/frozen.txt'

/** Those that were there when freezing began: no release was before them, and their order is not that of history. */
export const frozenBeforeRules = 35

/** Every SQL file of a module's migrations. */
export const migrationPath = /^(?:packages|apps)\/[^/]+\/migrations\/[^/]+\.sql$/

export type FrozenMigration = { readonly path: string; readonly checksum: string }

/** @throws Error for a line that is none of the list */
export function readFrozen(text: string): readonly FrozenMigration[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const [, checksum, path] = /^([0-9a-f]{64}) {2}(\S+)$/.exec(line) ?? []
      if (checksum !== undefined && path !== undefined) return { checksum, path }
      throw new Error(`${frozenFile} has a line that is no frozen migration: ${line}`)
    })
}

/** The list with what is not in it yet behind the rest; no line of it changes. */
export function withUnfrozen(list: string, files: readonly RepositoryFile[]): string {
  const frozenPaths = new Set(readFrozen(list).map(({ path }) => path))
  const added = files
    .filter(({ path }) => migrationPath.test(path) && !frozenPaths.has(path))
    .toSorted((one, other) => (one.path < other.path ? -1 : 1))
  return list + added.map(({ path, text }) => `${migrationChecksum(text)}  ${path}\n`).join('')
}
