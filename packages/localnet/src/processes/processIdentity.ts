import { execFile } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { promisify } from 'node:util'

const run = promisify(execFile)
const pollMs = 25

/**
 * Start time and command line of a running process: an id alone may belong to another process by now.
 * `undefined` when nothing runs under this id, or when the system does not tell.
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

/** True while a process of the group runs; one that ended and was not yet collected does not. */
export async function hasLivingMember(groupId: number): Promise<boolean> {
  return process.platform === 'linux' ? groupLivesByProc(groupId) : groupLivesByPs(groupId)
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

async function identityFromProc(pid: number): Promise<string | undefined> {
  const [facts, commandLine] = await Promise.all([livingProcess(pid), readProc(pid, 'cmdline')])
  if (facts === undefined || commandLine === undefined) return undefined
  return `${facts.startTicks} ${commandLine.replaceAll('\0', ' ').trim()}`
}

async function groupLivesByProc(groupId: number): Promise<boolean> {
  const pids = (await readdir('/proc')).filter((name) => /^[0-9]+$/.test(name))
  const all = await Promise.all(pids.map((pid) => livingProcess(Number(pid))))
  return all.some((facts) => facts?.groupId === groupId)
}

type ProcessFacts = { readonly groupId: number; readonly startTicks: string }

/** Facts of a process from `/proc`; `undefined` for a zombie, which has ended. The start is in ticks since boot. */
async function livingProcess(pid: number): Promise<ProcessFacts | undefined> {
  const stat = await readProc(pid, 'stat')
  if (stat === undefined) return undefined
  // The second field is the name in parentheses, which may hold spaces itself.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  // Fields 3, 5 and 22 of the file. @source proc(5)
  const [state, groupId, startTicks] = [fields[0], fields[2], fields[19]]
  if (state === 'Z' || groupId === undefined || startTicks === undefined) return undefined
  return { groupId: Number(groupId), startTicks }
}

/** `undefined` when the process is gone. */
async function readProc(pid: number, file: 'stat' | 'cmdline'): Promise<string | undefined> {
  try {
    return await readFile(`/proc/${pid}/${file}`, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ESRCH'))
      return undefined
    throw error
  }
}

async function groupLivesByPs(groupId: number): Promise<boolean> {
  const { stdout } = await run('ps', ['-A', '-o', 'pgid=,state='])
  return stdout.split('\n').some((line) => {
    const [group, state] = line.trim().split(/\s+/)
    return Number(group) === groupId && !state?.startsWith('Z')
  })
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
