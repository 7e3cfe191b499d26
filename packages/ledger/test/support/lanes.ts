import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { LaneTask } from './laneProcess.ts'

export type Counts = Readonly<Record<string, number>>

/** Processes that work on one database at the same time, with several connections each. */
export type Lanes = {
  /** Gives each process its task at the same time, and adds up what they count. */
  all(taskOf: (lane: number) => LaneTask): Promise<Counts>
  stop(): Promise<void>
}

export function startLanes(connectionString: string, count: number): Lanes {
  const lanes = Array.from({ length: count }, () => startLane(connectionString))
  return {
    async all(taskOf) {
      const sums: Record<string, number> = {}
      for (const counts of await Promise.all(lanes.map((lane, index) => lane.ask(taskOf(index))))) {
        for (const [name, count] of Object.entries(counts)) sums[name] = (sums[name] ?? 0) + count
      }
      return sums
    },
    async stop() {
      await Promise.all(lanes.map((lane) => lane.stop()))
    },
  }
}

function startLane(connectionString: string) {
  const path = join(import.meta.dirname, 'laneProcess.ts')
  const child = spawn(process.execPath, [path, connectionString], {
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  let errors = ''
  child.stderr.on('data', (chunk) => {
    errors += String(chunk)
  })
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
  const failed = ended.then((code): never => {
    throw new Error(`a lane ended with ${code}: ${errors}`)
  })
  // Only who waits for an answer hears of it.
  failed.catch(() => {})
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  return {
    async ask(task: LaneTask): Promise<Counts> {
      child.stdin.write(`${JSON.stringify(task)}\n`)
      const { value } = await Promise.race([lines.next(), failed])
      if (value === undefined) throw new Error('a lane ended without an answer')
      return JSON.parse(value)
    },
    async stop() {
      child.stdin.end()
      await ended
    },
  }
}
