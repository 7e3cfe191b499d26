import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'

const run = promisify(execFile)
const pollMs = 25

/**
 * Start time and command line of a running process: a process id alone may belong to somebody else by
 * now. `undefined` when nothing runs under this id, or when the system does not tell.
 */
export async function processIdentity(pid: number): Promise<string | undefined> {
  return process.platform === 'linux' ? identityFromProc(pid) : identityFromPs(pid)
}

export type IdentifiedProcess = { readonly pid: number; readonly identity: string }

export async function isSameProcess({ pid, identity }: IdentifiedProcess): Promise<boolean> {
  return (await processIdentity(pid)) === identity
}

/**
 * Asks a process to end, waits, and ends it by force when it does not. Does nothing to a process that
 * only has the same id. @returns true when there was something to stop
 */
export async function stopProcess(
  target: IdentifiedProcess,
  { graceMs, signal = 'SIGTERM' }: { readonly graceMs: number; readonly signal?: NodeJS.Signals },
): Promise<boolean> {
  if (!(await isSameProcess(target))) return false
  send(target.pid, signal)
  if (await hasEnded(target, graceMs)) return true
  send(target.pid, 'SIGKILL')
  await hasEnded(target, graceMs)
  return true
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    const isGone = error instanceof Error && 'code' in error && error.code === 'ESRCH'
    if (!isGone) throw error
  }
}

async function hasEnded(target: IdentifiedProcess, timeoutMs: number): Promise<boolean> {
  const deadline = performance.now() + timeoutMs
  while (await isSameProcess(target)) {
    if (performance.now() > deadline) return false
    await new Promise((resolve) => setTimeout(resolve, pollMs))
  }
  return true
}

/** Field 22 of `stat` is the start time in ticks since boot; a zombie has ended already. */
async function identityFromProc(pid: number): Promise<string | undefined> {
  try {
    const [stat, commandLine] = await Promise.all([
      readFile(`/proc/${pid}/stat`, 'utf8'),
      readFile(`/proc/${pid}/cmdline`, 'utf8'),
    ])
    // The second field is the name in parentheses, which may hold spaces itself.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const [state, startTicks] = [fields[0], fields[19]]
    if (state === 'Z' || startTicks === undefined) return undefined
    return `${startTicks} ${commandLine.replaceAll('\0', ' ').trim()}`
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ESRCH'))
      return undefined
    throw error
  }
}

async function identityFromPs(pid: number): Promise<string | undefined> {
  try {
    const { stdout } = await run('ps', ['-p', String(pid), '-o', 'lstart=,command='])
    return stdout.trim() || undefined
  } catch {
    // `ps` answers with exit code 1 when there is no such process.
    return undefined
  }
}
