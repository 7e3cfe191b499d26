import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { access, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { PostgresBinaries } from './binaries.ts'
import { clusterDirectory } from './owner.ts'
import type { Runner } from './unprivileged.ts'

/** Role that owns an embedded server. */
export const superuser = 'causeway'

const passwordFile = (dataDirectory: string) => join(dataDirectory, 'password')

/**
 * Creates the database files of an embedded server unless they exist, with a generated password. They are written to a
 * draft directory that is then renamed, so that a kill half-way leaves nothing that looks complete.
 * @returns the password
 */
export async function initialiseCluster(options: {
  dataDirectory: string
  durable: boolean
  binaries: PostgresBinaries
  runner: Runner
}): Promise<string> {
  const { dataDirectory, durable, binaries, runner } = options
  const cluster = clusterDirectory(dataDirectory)
  if (await exists(cluster)) return readPassword(dataDirectory)
  const draft = `${cluster}.new`
  await rm(draft, { recursive: true, force: true })
  await mkdir(draft, { mode: 0o700 })
  await runner.giveTo(draft)
  const password = randomBytes(16).toString('hex')
  await writeFile(passwordFile(dataDirectory), `${password}\n`, { mode: 0o600 })
  await runner.giveTo(passwordFile(dataDirectory))
  const { program, args } = runner.command(binaries.initdb, [
    `--pgdata=${draft}`,
    `--username=${superuser}`,
    `--pwfile=${passwordFile(dataDirectory)}`,
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    '--locale=C',
    '--no-instructions',
    ...(durable ? [] : ['--no-sync']),
  ])
  await runToEnd(program, args, runner)
  await rename(draft, cluster)
  return password
}

/** Password of the superuser of files that `initialiseCluster` created. */
export async function readPassword(dataDirectory: string): Promise<string> {
  return (await readFile(passwordFile(dataDirectory), 'utf8')).trim()
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

async function runToEnd(program: string, args: readonly string[], runner: Runner): Promise<void> {
  const child = spawn(program, args, {
    ...runner.identity,
    env: { LC_ALL: 'C' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  const appendOutput = (chunk: Buffer) => {
    output = (output + chunk.toString()).slice(-4_000)
  }
  child.stdout.on('data', appendOutput)
  child.stderr.on('data', appendOutput)
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
  if (code !== 0) throw new Error(`creating the database files failed: ${output}`)
}
