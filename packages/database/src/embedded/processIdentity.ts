import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'

const run = promisify(execFile)

/**
 * Start time of a process, as an opaque text that tells it from a later process with the same id; `undefined` when
 * there is no such process (a zombie is none).
 */
export async function processIdentity(pid: number): Promise<string | undefined> {
  if (process.platform !== 'linux') return (await askPs(pid, 'lstart=')) || undefined
  const stat = await readProc(pid, 'stat')
  if (stat === undefined) return undefined
  // The second field is the name in brackets and may contain spaces, so the fields after the last bracket are read.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const isZombie = fields[0] === 'Z'
  return isZombie ? undefined : fields[startTimeField - firstFieldRead]
}

/** Numbers of the fields of `/proc/<pid>/stat`, from 1: the first one behind the name, and the start time. @source proc(5) */
const firstFieldRead = 3
const startTimeField = 22

/** The command line of a process, `undefined` when there is none. */
export async function processCommand(pid: number): Promise<string | undefined> {
  if (process.platform !== 'linux') return (await askPs(pid, 'args=')) || undefined
  return (await readProc(pid, 'cmdline'))?.replaceAll('\0', ' ')
}

async function readProc(pid: number, name: string): Promise<string | undefined> {
  try {
    return await readFile(`/proc/${pid}/${name}`, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && isAbsence(error.code)) return undefined
    throw error
  }
}

function isAbsence(code: unknown): boolean {
  return code === 'ENOENT' || code === 'ESRCH'
}

/** `ps` exits with 1 when no process has the id. */
async function askPs(pid: number, column: string): Promise<string> {
  try {
    const { stdout } = await run('ps', ['-o', column, '-p', String(pid)])
    return stdout.trim()
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 1) return ''
    throw error
  }
}
