import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'

const ticksPerSecond = 100

/** Resident memory of a process, MiB. */
export function residentMiB(pid: number): number {
  return Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)]).toString()) / 1024
}

/** Time that all processors of the machine were busy so far, milliseconds; `NaN` where `/proc` is not there. */
export function machineCpuMs(): number {
  try {
    const [line = ''] = readFileSync('/proc/stat', 'utf8').split('\n', 1)
    const [, user, nice, system, , , interrupts, softInterrupts] = line.split(/\s+/).map(Number)
    const busyTicks = [user, nice, system, interrupts, softInterrupts].reduce<number>(
      (sum, ticks) => sum + (ticks ?? 0),
      0,
    )
    return (busyTicks / ticksPerSecond) * 1_000
  } catch {
    return Number.NaN
  }
}

/** Time on processors of a process so far, all threads, milliseconds; `NaN` where `/proc` is not there. */
export function cpuMs(pid: number): number {
  try {
    const fields = statFields(pid)
    return ((Number(fields[11]) + Number(fields[12])) / ticksPerSecond) * 1_000
  } catch {
    return Number.NaN
  }
}

/**
 * Processor time of a process and all its children, ended ones included, in ms: PostgreSQL runs each connection as a
 * process.
 */
export function familyCpuMs(pid: number): number {
  try {
    const ended = statFields(pid).slice(13, 15).map(Number)
    const children = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && isChildOf(name, pid))
    const endedMs = (ended.reduce((sum, ticks) => sum + ticks, 0) / ticksPerSecond) * 1_000
    return children.reduce((sum, child) => sum + (cpuMs(Number(child)) || 0), cpuMs(pid) + endedMs)
  } catch {
    return Number.NaN
  }
}

function isChildOf(child: string, pid: number): boolean {
  try {
    return statFields(child)[1] === String(pid)
  } catch {
    // It ended meanwhile.
    return false
  }
}

/** From the state on: the second field is the program's name in brackets and may hold spaces. */
function statFields(pid: number | string): readonly string[] {
  return readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ')
}
