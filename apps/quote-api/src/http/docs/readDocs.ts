import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ConfigurationError } from '@causeway/core'

/** Pages by their path below `docs`, e.g. `guides/tron.md`. */
export type Docs = ReadonlyMap<string, string>

/** Folders for callers and settlement services; the others are for operators and developers. */
export const servedFolders = ['concepts', 'guides', 'reference', 'specification'] as const

/** Names that need no escape in a URL. */
const servedPath = new RegExp(`^(?:${servedFolders.join('|')})/(?:[\\w-]+/)*[\\w-]+\\.md$`)

/**
 * Reads the pages for callers, once at the start. If one cannot be read there are none, and the start goes on, because
 * quotes matter more. A symbolic link is not followed: it could lead out of the folder.
 * @param onFailure called with the reason if there are none
 */
export async function openDocs(folder: string, onFailure: (error: unknown) => void): Promise<Docs> {
  return await readDocs(folder).catch((error: unknown) => {
    onFailure(error)
    return new Map()
  })
}

async function readDocs(folder: string): Promise<Docs> {
  const paths = (await listFiles(folder)).filter((path) => servedPath.test(path)).sort()
  if (paths.length === 0) throw new ConfigurationError('The folder of the docs has no page for callers.')
  return new Map(
    await Promise.all(paths.map(async (path) => [path, await readFile(join(folder, path), 'utf8')] as const)),
  )
}

/** Paths of all files below the folder. Read folder by folder, because `recursive` follows links on Node 26. */
async function listFiles(folder: string, subfolder = ''): Promise<readonly string[]> {
  const entries = await readdir(join(folder, subfolder), { withFileTypes: true })
  const paths = await Promise.all(
    entries.map((entry) => {
      const path = `${subfolder}${entry.name}`
      if (entry.isDirectory()) return listFiles(folder, `${path}/`)
      return entry.isFile() ? [path] : []
    }),
  )
  return paths.flat()
}
