import type { Clock } from '../../src/ports.ts'

export type ManualClock = Clock & {
  /** Moves time, running each due task at its own moment and letting promises settle between them. */
  advance(byMs: number): Promise<void>
  /** Sets the time of day, while no time passes. */
  step(byMs: number): void
  pendingTasks(): number
}

type Task = { readonly atMs: number; readonly run: () => void }

export function createManualClock(startMs = 1_800_000_000_000): ManualClock {
  let nowMs = startMs
  let stepMs = 0
  let tasks: Task[] = []
  return {
    now: () => nowMs + stepMs,
    steadyNow: () => nowMs,
    step(byMs) {
      stepMs += byMs
    },
    after(delayMs, run) {
      const task = { atMs: nowMs + delayMs, run }
      tasks.push(task)
      return () => {
        tasks = tasks.filter((other) => other !== task)
      }
    },
    async advance(byMs) {
      const untilMs = nowMs + byMs
      await settle()
      for (;;) {
        const due = tasks.filter((task) => task.atMs <= untilMs).sort((a, b) => a.atMs - b.atMs)[0]
        if (due === undefined) break
        tasks = tasks.filter((task) => task !== due)
        nowMs = Math.max(nowMs, due.atMs)
        due.run()
        await settle()
      }
      nowMs = untilMs
    },
    pendingTasks: () => tasks.length,
  }
}

/** Lets every promise that can settle without I/O do so. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve))
}
