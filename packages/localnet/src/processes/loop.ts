import { setTimeout as sleep } from 'node:timers/promises'

export type Loop = {
  /** No round begins after this; waits for the one under way, but not for ever. */
  stop(): Promise<void>
}

export type LoopOptions = {
  readonly everyMs: number
  readonly run: () => Promise<void>
  /** Takes a line when rounds begin to fail, and one when they succeed again. */
  readonly report: (line: string) => void
}

/** Time for which `stop` waits for a round, which may hang on a node that is suspended. */
const lastRoundMs = 2_000

/** Repeats `run` until stopped; a round that fails does not end it. */
export function startLoop({ everyMs, run, report }: LoopOptions): Loop {
  const stopping = new AbortController()
  const { signal } = stopping

  async function rounds(): Promise<void> {
    let failing = false
    while (!signal.aborted) {
      try {
        await run()
        if (failing) report('works again')
        failing = false
      } catch (error) {
        if (!failing && !signal.aborted) report(`fails: ${firstLine(error)}`)
        failing = true
      }
      await pause(everyMs, signal)
    }
  }

  const ended = rounds()
  return {
    async stop() {
      stopping.abort()
      const timeout = new AbortController()
      await Promise.race([ended, pause(lastRoundMs, timeout.signal)])
      timeout.abort()
    },
  }
}

/** Resolves after a time, or at once when told to stop. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return sleep(ms, undefined, { signal }).catch(() => {})
}

function firstLine(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error)
  return text.split('\n', 1)[0] ?? ''
}
