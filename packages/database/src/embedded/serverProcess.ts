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

const alwaysOn = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  timezone: 'UTC',
  max_connections: '100',
}
/** For tests that never crash the machine or the server. */
const notDurable = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' }

/**
 * Starts the server in a process group of its own, so that Ctrl-C in a terminal reaches its owner
 * and not the database under it; output goes to the log file and survives the owner.
 * @returns its process id, at once; it answers later
 */
export function spawnServer(options: ServerSpawn): number {
  const { dataDirectory, port, durable, logFile, binaries, runner } = options
  const settings = Object.entries({ ...alwaysOn, ...(durable ? {} : notDurable) })
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
    // Starting it is confirmed by its answers; this keeps a failing spawn from ending the process.
    child.on('error', () => {})
    if (child.pid === undefined) throw new Error('PostgreSQL could not be started')
    return child.pid
  } finally {
    closeSync(log)
  }
}

const stopSignals = [
  { signal: 'SIGINT', waitMs: 15_000 },
  { signal: 'SIGQUIT', waitMs: 5_000 },
  { signal: 'SIGKILL', waitMs: 5_000 },
] as const

/** Ends a server by process id: first cleanly, disconnecting its clients, then harder. */
export async function stopServer(pid: number): Promise<void> {
  const identity = await processIdentity(pid)
  if (identity === undefined) return
  for (const { signal, waitMs } of stopSignals) {
    if (!sendSignal(pid, signal)) return
    if (await isGoneWithin(pid, identity, waitMs)) return
  }
  throw new Error(`PostgreSQL (process ${pid}) did not stop`)
}

function sendSignal(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ESRCH') return false
    throw error
  }
}

async function isGoneWithin(pid: number, identity: string, waitMs: number): Promise<boolean> {
  const deadline = Date.now() + waitMs
  while (Date.now() < deadline) {
    if ((await processIdentity(pid)) !== identity) return true
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  return false
}

/** The end of the log, for an error that has to say why the server did not start. */
export async function readLogTail(logFile: string): Promise<string> {
  return (await readFile(logFile, 'utf8')).slice(-2_000)
}
