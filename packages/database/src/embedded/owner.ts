import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { processCommand, processIdentity } from './processIdentity.ts'

/**
 * The process that started an embedded server and is responsible for stopping it. `identity`: see `processIdentity`.
 * `durable`: the setting that the server runs with.
 */
export type Owner = { readonly pid: number; readonly identity: string; readonly durable: boolean }

/** A live server process. */
export type RunningServer = { readonly pid: number; readonly port: number }

const ownerFile = (dataDirectory: string) => join(dataDirectory, 'owner.json')

/** Directory of the database files of one embedded server. */
export const clusterDirectory = (dataDirectory: string) => join(dataDirectory, 'cluster')

/** The recorded owner and whether it still runs; `undefined` when none is recorded. */
export async function readOwner(
  dataDirectory: string,
): Promise<(Owner & { readonly isAlive: boolean }) | undefined> {
  const owner = parseOwner(await readIfPresent(ownerFile(dataDirectory)))
  if (owner === undefined) return undefined
  return { ...owner, isAlive: (await processIdentity(owner.pid)) === owner.identity }
}

/** Records this process as the owner. */
export async function writeOwner(dataDirectory: string, durable: boolean): Promise<void> {
  const owner = { pid: process.pid, identity: await processIdentity(process.pid), durable }
  const draft = `${ownerFile(dataDirectory)}.${process.pid}`
  await writeFile(draft, JSON.stringify(owner))
  await rename(draft, ownerFile(dataDirectory))
}

export async function removeOwner(dataDirectory: string): Promise<void> {
  await rm(ownerFile(dataDirectory), { force: true })
}

/** The server that runs in this directory now, whoever started it. */
export async function findRunningServer(dataDirectory: string): Promise<RunningServer | undefined> {
  const cluster = clusterDirectory(dataDirectory)
  // PostgreSQL's own lock file: process id, directory, start time, port, one per line, all written at once.
  const lines = (await readIfPresent(join(cluster, 'postmaster.pid')))?.split('\n') ?? []
  const pid = Number.parseInt(lines[0] ?? '', 10)
  const port = Number.parseInt(lines[3] ?? '', 10)
  if (!(pid > 0 && port > 0)) return undefined
  if ((await processIdentity(pid)) === undefined) return undefined
  // After a reboot the process id may belong to another program.
  if (!(await processCommand(pid))?.includes(cluster)) return undefined
  return { pid, port }
}

function parseOwner(text: string | undefined): Owner | undefined {
  if (text === undefined) return undefined
  const value: unknown = JSON.parse(text)
  if (typeof value !== 'object' || value === null) return undefined
  if (!('pid' in value && 'identity' in value && 'durable' in value)) return undefined
  const { pid, identity, durable } = value
  if (typeof pid !== 'number' || typeof identity !== 'string' || typeof durable !== 'boolean')
    return undefined
  return { pid, identity, durable }
}

async function readIfPresent(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}
