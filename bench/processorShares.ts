// The load generator and the service under load on processors of their own: sharing one, each takes time from the other
// as it happens, and a rate says how they were scheduled.
import { spawnSync } from 'node:child_process'
import { cpus } from 'node:os'

const last = cpus().length - 1

/** Linux with `taskset`, and two processors at least. */
const canSeparate = last > 0 && spawnSync('taskset', ['--version']).status === 0

/**
 * Keeps this process, which makes the load, on the last processor, and the one under load away from it. Everything else,
 * such as its database and its chains, goes where there is room.
 * @returns what gives both the whole machine again
 */
export function separateProcessors(pid: number | undefined): () => void {
  if (!canSeparate) return () => {}
  const place = (own: string, others: string) => {
    keepOn(process.pid, own)
    if (pid !== undefined) keepOn(pid, others)
  }
  place(`${last}`, `0-${last - 1}`)
  return () => place(`0-${last}`, `0-${last}`)
}

/** All threads of a process. One that has ended meanwhile is no matter. */
function keepOn(pid: number, processors: string): void {
  spawnSync('taskset', ['--all-tasks', '--pid', '--cpu-list', processors, String(pid)])
}
