import { execFileSync } from 'node:child_process'
import {
  cpSync,
  type Dirent,
  existsSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'

/**
 * A copy of the checkout as it is on disk, whose packages import each other and not the checkout's: Stryker writes its
 * mutants into sources.
 * @param tree folder that is made anew
 */
export function makeScratchTree(root: string, tree: string): void {
  rmSync(tree, { recursive: true, force: true })
  const listing = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  })
  const paths = [...new Set(listing.split('\0'))].filter(
    (path) => path !== '' && existsSync(join(root, path)),
  )
  for (const path of paths) {
    mkdirSync(dirname(join(tree, path)), { recursive: true })
    cpSync(join(root, path), join(tree, path))
  }
  const packages = paths.filter((path) => basename(path) === 'package.json').map((path) => dirname(path))
  for (const folder of packages)
    copyLinks(join(root, folder, 'node_modules'), join(tree, folder, 'node_modules'))
  symlinkSync(join(root, 'node_modules', '.pnpm'), join(tree, 'node_modules', '.pnpm'))
}

/** pnpm's links are relative: in the copy, one to a package of the workspace leads to the copy. */
function copyLinks(from: string, to: string): void {
  for (const entry of entriesOf(from)) {
    const target = join(to, entry.name)
    if (entry.isSymbolicLink()) {
      mkdirSync(to, { recursive: true })
      symlinkSync(readlinkSync(join(from, entry.name)), target)
    } else if (entry.name.startsWith('@')) copyLinks(join(from, entry.name), target)
  }
}

function entriesOf(folder: string): readonly Dirent[] {
  return existsSync(folder) ? readdirSync(folder, { withFileTypes: true }) : []
}
