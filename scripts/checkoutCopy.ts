// A copy of this checkout in which tests may change sources, with the same installed packages.
import { cpSync, existsSync, lstatSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { listRepositoryFiles } from './checks/repositoryFiles.ts'

/** Copies every file that git tracks or would track, as it is on disk now, and links installed packages. */
export function copyCheckout(root: string, copy: string): void {
  for (const path of listRepositoryFiles(root)) {
    mkdirSync(dirname(join(copy, path)), { recursive: true })
    cpSync(join(root, path), join(copy, path))
  }
  linkPackages(root, copy, 'node_modules')
  for (const kind of ['packages', 'apps'])
    for (const name of readdirSync(join(root, kind))) linkPackages(root, copy, `${kind}/${name}/node_modules`)
}

/** Links of installed packages, with our own packages as those of the copy. */
function linkPackages(root: string, copy: string, folder: string): void {
  if (!existsSync(join(root, folder))) return
  for (const name of readdirSync(join(root, folder))) {
    const [from, to] = [join(root, folder, name), join(copy, folder, name)]
    mkdirSync(dirname(to), { recursive: true })
    if (name.startsWith('@causeway') || lstatSync(from).isSymbolicLink())
      cpSync(from, to, { recursive: true, verbatimSymlinks: true })
    else if (name === '.pnpm' || !name.startsWith('.')) symlinkSync(from, to)
  }
}
