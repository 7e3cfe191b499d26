import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

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
    // The second field is the program's name in brackets and may hold spaces.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /, '')
      .split(' ')
    return ((Number(fields[11]) + Number(fields[12])) / ticksPerSecond) * 1_000
  } catch {
    return Number.NaN
  }
}
