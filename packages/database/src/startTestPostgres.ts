import { execFile } from 'node:child_process'
import { createHash, randomUUID } from 'node:crypto'
import { access, mkdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { findPostgresBinaries } from './embedded/binaries.ts'
import { clusterDirectory } from './embedded/owner.ts'
import {
  type EmbeddedPostgres,
  type EmbeddedPostgresOptions,
  startEmbeddedPostgres,
} from './embedded/startEmbeddedPostgres.ts'

const run = promisify(execFile)
const defaultCacheFolder = fileURLToPath(new URL('../../../.cache/postgres/', import.meta.url))
/** Entries of a stopped server's directory that are copied: its files, and the password that they were made with. */
const copiedEntries = ['cluster', 'password'] as const

/**
 * Starts a PostgreSQL for tests that crash nothing. Its files are copied from a template, a stopped server that the
 * first call makes, because creating them takes four times as long. A directory that has files keeps them.
 */
export async function startTestPostgres(
  options: Omit<EmbeddedPostgresOptions, 'durable'> & { readonly cacheFolder?: string },
): Promise<EmbeddedPostgres> {
  const { cacheFolder = defaultCacheFolder, ...rest } = options
  const { dataDirectory } = rest
  // Windows has no `cp` that keeps the owner.
  const isCopied = process.platform !== 'win32' && !(await exists(clusterDirectory(dataDirectory)))
  if (isCopied) {
    await mkdir(dataDirectory, { recursive: true })
    await copyEntries(await findTemplate(cacheFolder), dataDirectory)
  }
  return startEmbeddedPostgres({ ...rest, durable: false })
}

/** Folder of the template for the installed version, made if missing. Concurrent calls agree on one by the rename. */
async function findTemplate(cacheFolder: string): Promise<string> {
  const { initdb } = await findPostgresBinaries()
  const { size, mtimeMs } = await stat(initdb)
  const version = createHash('sha256').update(`${initdb} ${size} ${mtimeMs}`).digest('hex').slice(0, 16)
  const folder = join(cacheFolder, version)
  if (await exists(folder)) return folder
  const draft = join(cacheFolder, `building-${randomUUID()}`)
  await mkdir(draft, { recursive: true })
  const server = await startEmbeddedPostgres({ dataDirectory: draft, durable: false })
  await server.stop()
  try {
    await rename(draft, folder)
  } catch (error) {
    const isTaken =
      error instanceof Error && 'code' in error && /^(ENOTEMPTY|EEXIST|EPERM)$/.test(String(error.code))
    if (!isTaken) throw error
    await rm(draft, { recursive: true })
  }
  return folder
}

/** Copies with the owner, since a server that root starts runs as another account. */
async function copyEntries(from: string, to: string): Promise<void> {
  for (const entry of copiedEntries) await run('cp', ['-a', join(from, entry), join(to, entry)])
}

async function exists(path: string): Promise<boolean> {
  try {
    await access(path)
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return false
    throw error
  }
}
