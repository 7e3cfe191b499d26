import { setTimeout as sleep } from 'node:timers/promises'

export type Loop = {
  /** No round begins after this; waits for the one under way, but not for ever. */
  stop(): Promise<void>
}

/** A round may hang on a node that is stopped; what it waits for has time limits of its own. */
const lastRoundMs = 8_000

/** Repeats `run` until stopped; a round that fails does not end it. */
export function startLoop(options: {
  readonly everyMs: number
  readonly run: () => Promise<void>
  readonly onFailure: (error: unknown) => void
}): Loop {
  const { everyMs, run, onFailure } = options
  const stopping = new AbortController()
  const { signal } = stopping
  const pause = (ms: number) => sleep(ms, undefined, { signal }).catch(() => undefined)

  async function rounds(): Promise<void> {
    while (!signal.aborted) {
      try {
        await run()
      } catch (error) {
        if (!signal.aborted) onFailure(error)
      }
      await pause(everyMs)
    }
  }

  const ended = rounds()
  return {
    async stop() {
      stopping.abort()
      const patience = new AbortController()
      await Promise.race([
        ended,
        sleep(lastRoundMs, undefined, { signal: patience.signal }).catch(() => undefined),
      ])
      patience.abort()
    },
  }
}
