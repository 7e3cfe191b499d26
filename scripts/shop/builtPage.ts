import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { access, mkdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const repositoryRoot = fileURLToPath(new URL('../..', import.meta.url))
const pageFolder = join(repositoryRoot, 'examples/shop')
const cacheFolder = join(repositoryRoot, 'node_modules/.cache/widget-page')
const sources = ['index.html', 'page.mjs', 'vite.config.mjs', 'package.json']
const lockFile = join(repositoryRoot, 'pnpm-lock.yaml')

const exists = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  )

/** The folder of the page of `examples/shop`, built once for what it is made of. Half a minute where it was not built before. */
export async function builtShopPage(): Promise<string> {
  const hash = createHash('sha256')
  for (const path of [...sources.map((name) => join(pageFolder, name)), lockFile])
    hash.update(await readFile(path))
  const folder = join(cacheFolder, hash.digest('hex').slice(0, 16))
  if (await exists(folder)) return folder
  const unfinished = `${folder}.${process.pid}`
  await mkdir(cacheFolder, { recursive: true })
  const vite = join(pageFolder, 'node_modules/vite/bin/vite.js')
  await promisify(execFile)(
    process.execPath,
    [vite, 'build', '--outDir', unfinished, '--logLevel', 'error'],
    {
      cwd: pageFolder,
      maxBuffer: 2 ** 26,
    },
  )
  try {
    await rename(unfinished, folder)
  } catch (error) {
    // Another process was faster.
    await rm(unfinished, { recursive: true, force: true })
    if (!(await exists(folder))) throw error
  }
  return folder
}
