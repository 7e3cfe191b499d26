import { execFileSync } from 'node:child_process'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { RepositoryFile } from './finding.ts'

const binaryExtension = /\.(png|jpg|gif|ico|woff2?|so|wasm|gz|zip)$/

/**
 * Every text file that git tracks or would track, as it is on disk now.
 * @throws Error when git is missing or `root` is no repository
 */
export function readRepositoryFiles(root: string): readonly RepositoryFile[] {
  return listRepositoryFiles(root)
    .filter((path) => !binaryExtension.test(path))
    .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }))
}

/** Paths of the same files, and of binary ones. @throws Error as `readRepositoryFiles` */
export function listRepositoryFiles(root: string): readonly string[] {
  const listing = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  })
  return [...new Set(listing.split('\0'))].filter((path) => path !== '' && isFile(join(root, path)))
}

/** False for a path that is still in the index but was deleted. */
function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false
}
