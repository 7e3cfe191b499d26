import { setTimeout as sleep } from 'node:timers/promises'

/** Repeats a refresh, with a pause after each one, until it is closed. The refresh reports its own failures. */
export function createRefreshLoop(
  refresh: () => Promise<void>,
  pauseMs: number,
): { start(): void; close(): Promise<void> } {
  const closing = new AbortController()
  let loop: Promise<void> = Promise.resolve()
  const refreshUntilClosed = async () => {
    while (!closing.signal.aborted) {
      await refresh()
      await sleep(pauseMs, undefined, { signal: closing.signal }).catch(() => {})
    }
  }
  return {
    start() {
      loop = refreshUntilClosed()
    },
    async close() {
      closing.abort()
      await loop
    },
  }
}
