// A service as its image runs it, from spawn to the first 200 of its readiness route.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { median } from './load.ts'
import { imageFlags } from './process.ts'
import { cpuMs, residentMiB } from './processFigures.ts'
import type { BenchRow } from './row.ts'

const starts = 7
const idleMs = 3_000

export type Started = {
  readonly pid: number
  readonly url: string
  readonly readyMs: number
  stop(): Promise<void>
}

/** @param script of the service's built code, from the root of the repository @throws Error when it ends before it is ready */
export async function startService(
  script: string,
  {
    env,
    url,
    readyUrl,
  }: { readonly env: NodeJS.ProcessEnv; readonly url: string; readonly readyUrl: string },
): Promise<Started> {
  const path = fileURLToPath(new URL(`../${script}`, import.meta.url))
  const startedAt = performance.now()
  const child = spawn(process.execPath, [...imageFlags(script), path], {
    env,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const ended = once(child, 'exit')
  while (!(await isReady(readyUrl))) {
    if (child.exitCode !== null) throw new Error(`${script} ended with ${child.exitCode}`)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  const readyMs = performance.now() - startedAt
  const { pid } = child
  if (pid === undefined) throw new Error(`${script} was not started`)
  return {
    pid,
    url,
    readyMs,
    async stop() {
      child.kill('SIGTERM')
      await ended
    },
  }
}

async function isReady(url: string): Promise<boolean> {
  try {
    const response = await fetch(url)
    await response.text()
    return response.ok
  } catch {
    return false
  }
}

export type Starts = {
  readonly readyMs: number
  /** Each start and the processor time of the one in the middle. */
  readonly spent: string
  readonly idleMiB: number
  readonly usedMiB: number
}

/** @param use what the last one does before its memory is read again */
export async function measureStarts(
  start: () => Promise<Started>,
  use: (service: Started) => Promise<void> = async () => {},
): Promise<Starts> {
  const times: number[] = []
  const spent: number[] = []
  for (let count = 0; count < starts; count += 1) {
    const service = await start()
    times.push(service.readyMs)
    spent.push(cpuMs(service.pid))
    await service.stop()
  }
  const service = await start()
  try {
    await new Promise((resolve) => setTimeout(resolve, idleMs))
    const idleMiB = residentMiB(service.pid)
    await use(service)
    const each = times.map((ms) => ms.toFixed(0)).join(' ')
    return {
      readyMs: median(times),
      spent: ` (${each}); ${median(spent)} ms on the processor`,
      idleMiB,
      usedMiB: residentMiB(service.pid),
    }
  } finally {
    await service.stop()
  }
}

export function startRow(id: string, name: string, measured: number, goal: number, more = ''): BenchRow {
  const value = `${measured.toFixed(0)}${more}`
  return { id, name, value, limit: `<= ${goal}`, ratio: measured, goal, atLeast: false }
}
