import { spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import type { PostgresBinaries } from './binaries.ts'
import { clusterDirectory } from './owner.ts'
import { processIdentity } from './processIdentity.ts'
import type { Runner } from './unprivileged.ts'

export type ServerSpawn = {
  readonly dataDirectory: string
  readonly port: number
  readonly durable: boolean
  readonly logFile: string
  readonly binaries: PostgresBinaries
  readonly runner: Runner
}

/** Settings of every embedded server. */
const commonSettings = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  timezone: 'UTC',
  max_connections: '100',
}
/** Settings for tests that never crash the machine or the server. */
const notDurableSettings = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' }

/**
 * Starts the server in a process group of its own, so that Ctrl-C in a terminal reaches its owner and not the database.
 * Its output goes to the log file, which outlives the owner.
 * @returns its process id, before the server answers
 */
export function spawnServer(options: ServerSpawn): number {
  const { dataDirectory, port, durable, logFile, binaries, runner } = options
  const settings = Object.entries({ ...commonSettings, ...(durable ? {} : notDurableSettings) })
  const { program, args } = runner.command(binaries.postgres, [
    '-D',
    clusterDirectory(dataDirectory),
    '-p',
    String(port),
    ...settings.flatMap(([name, value]) => ['-c', `${name}=${value}`]),
  ])
  const log = openSync(logFile, 'a')
  try {
    const child = spawn(program, args, {
      ...runner.identity,
      env: { LC_ALL: 'C' },
      detached: true,
      stdio: ['ignore', log, log],
    })
    child.unref()
    // Callers learn from the server's answers whether it started. The listener keeps a failed spawn from ending us.
    child.on('error', () => {})
    if (child.pid === undefined) throw new Error('PostgreSQL could not be started')
    return child.pid
  } finally {
    closeSync(log)
  }
}

/** PostgreSQL: SIGINT is a fast shutdown, which ends clients; SIGQUIT an immediate one, with recovery at next start. */
const stopSignals = [
  { signal: 'SIGINT', waitMs: 15_000 },
  { signal: 'SIGQUIT', waitMs: 5_000 },
  { signal: 'SIGKILL', waitMs: 5_000 },
] as const

/** Ends a server by process id, with a harder signal each time that it does not stop in time. */
export async function stopServer(pid: number): Promise<void> {
  const identity = await processIdentity(pid)
  if (identity === undefined) return
  for (const { signal, waitMs } of stopSignals) {
    if (!sendSignal(pid, signal)) return
    if (await isGoneWithin(pid, identity, waitMs)) return
  }
  throw new Error(`PostgreSQL (process ${pid}) did not stop`)
}

/** False when there is no such process. */
function sendSignal(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ESRCH') return false
    throw error
  }
}

async function isGoneWithin(pid: number, identity: string, waitMs: number): Promise<boolean> {
  const deadline = performance.now() + waitMs
  while (performance.now() < deadline) {
    if ((await processIdentity(pid)) !== identity) return true
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  return false
}

/** The end of the log, for the error of a server that did not start. */
export async function readLogTail(logFile: string): Promise<string> {
  return (await readFile(logFile, 'utf8')).slice(-2_000)
}
