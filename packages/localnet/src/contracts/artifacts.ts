import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Artifacts, compile } from './compile.ts'
import { compilationHash, type SoliditySource } from './compilerInput.ts'

const packageRoot = fileURLToPath(new URL('../../', import.meta.url))
const contractsFolder = join(packageRoot, 'contracts')
const defaultCacheFolder = join(packageRoot, 'node_modules', '.cache', 'causeway')

/**
 * All contracts, compiled at most once per content of the sources: the result is kept in a file named
 * by their hash. @throws Error with the compiler's messages
 */
export async function loadArtifacts(cacheFolder: string = defaultCacheFolder): Promise<Artifacts> {
  const sources = await readSources()
  const file = join(cacheFolder, `contracts-${compilationHash(sources, compilerVersion())}.json`)
  const cached = await readCached(file)
  if (cached !== undefined) return cached
  const artifacts = compile(sources)
  await mkdir(dirname(file), { recursive: true })
  // Another process may compile at the same time: both write the same bytes, each rename is whole.
  const temporary = `${file}.${process.pid}`
  await writeFile(temporary, JSON.stringify(artifacts))
  await rename(temporary, file)
  return artifacts
}

/** Every Solidity file, paths with forward slashes from the contracts folder, sorted. */
export async function readSources(): Promise<readonly SoliditySource[]> {
  const entries = await readdir(contractsFolder, { recursive: true, withFileTypes: true })
  const files = entries
    .filter((entry) => entry.isFile() && entry.name.endsWith('.sol'))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
  return Promise.all(
    files.map(async (file) => ({
      path: relative(contractsFolder, file).split(sep).join('/'),
      content: await readFile(file, 'utf8'),
    })),
  )
}

async function readCached(file: string): Promise<Artifacts | undefined> {
  try {
    // CAST: only this module writes the file, under the hash of what it was made from.
    return JSON.parse(await readFile(file, 'utf8')) as Artifacts
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}

function compilerVersion(): string {
  // CAST: a package manifest has a version.
  return (createRequire(import.meta.url)('solc/package.json') as { version: string }).version
}
