import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type ArtifactsOf, compile, compilerVersion } from './compile.ts'
import { compilationHash, type SoliditySource } from './compilerInput.ts'
import { type ContractName, type ContractSources, contractSources } from './contractNames.ts'

const packageRoot = fileURLToPath(new URL('../', import.meta.url))
const defaultCacheFolder = join(packageRoot, 'node_modules', '.cache', 'causeway')

// Compiles contracts and keeps the results in a cache folder. For development and tests: services use the generated files.

/** All compiled contracts of this package, by name. */
export type Artifacts = ArtifactsOf<ContractName>

export const contractsFolder = join(packageRoot, 'contracts')

/** Compiles this package's contracts, or reads them from the cache. @throws Error with the compiler's messages */
export async function loadArtifacts(cacheFolder: string = defaultCacheFolder): Promise<Artifacts> {
  return compileOnce(await readSources(contractsFolder), contractSources, cacheFolder)
}

/**
 * Compiles the contracts of `table`, or reads them from a file named by the hash of sources, settings and compiler.
 * @throws Error with the compiler's messages
 */
export async function compileOnce<Name extends string>(
  sources: readonly SoliditySource[],
  table: ContractSources<Name>,
  cacheFolder: string = defaultCacheFolder,
): Promise<ArtifactsOf<Name>> {
  const file = join(cacheFolder, `contracts-${compilationHash(sources, table, compilerVersion())}.json`)
  const cached = await readCached<Name>(file)
  if (cached !== undefined) return cached
  const artifacts = compile(sources, table)
  await mkdir(dirname(file), { recursive: true })
  // Other processes may compile at the same time. They write the same bytes, and a rename is atomic.
  const temporary = `${file}.${process.pid}`
  await writeFile(temporary, JSON.stringify(artifacts))
  await rename(temporary, file)
  return artifacts
}

/** Reads all Solidity files of a folder, sorted; their paths are relative to it, with forward slashes. */
export async function readSources(folder: string): Promise<readonly SoliditySource[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries
    .filter((entry) => entry.isFile() && entry.name.endsWith('.sol'))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
  return Promise.all(
    files.map(async (file) => ({
      path: relative(folder, file).split(sep).join('/'),
      content: await readFile(file, 'utf8'),
    })),
  )
}

async function readCached<Name extends string>(file: string): Promise<ArtifactsOf<Name> | undefined> {
  try {
    // CAST: only this module writes the file, under the hash of what it was made from.
    return JSON.parse(await readFile(file, 'utf8')) as ArtifactsOf<Name>
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}
