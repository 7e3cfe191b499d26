import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { contractsFolder } from '@causeway/contracts'

const packageRoot = fileURLToPath(new URL('../../', import.meta.url))
/** Sources that decide which contracts and balances the chains have after a first start. */
const sources = [
  contractsFolder,
  ...['contracts', 'src/contracts', 'src/deploy', 'src/keys', 'src/uniswap'].map((path) =>
    join(packageRoot, path),
  ),
]

/**
 * Hash of the contracts and of the code that deploys them. State that was made from other sources is not used
 * again: addresses, pools or balances would differ from what configuration and code expect.
 */
export async function deploymentHash(): Promise<string> {
  const files = (await Promise.all(sources.map(filesOf))).flat().sort()
  const contents = await Promise.all(files.map((file) => readFile(file)))
  const hash = createHash('sha256')
  for (const [index, file] of files.entries()) {
    const name = relative(packageRoot, file).split(sep).join('/')
    hash.update(`${name} ${contents[index]?.length}\n`).update(contents[index] ?? '')
  }
  return hash.digest('hex')
}

/** Files below a folder without tests, which do not change a deployment. */
async function filesOf(path: string): Promise<readonly string[]> {
  const entries = await readdir(path, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile() && !entry.name.includes('.test.'))
    .map((entry) => join(entry.parentPath, entry.name))
}
