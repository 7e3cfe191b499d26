import { setTimeout as sleep } from 'node:timers/promises'
import type { RoundSignal } from '../filling/solverRound.ts'

export type Loop = {
  /** No round begins after this; waits for the one under way, but not for ever. */
  stop(): Promise<void>
}

/** Collects signals between rounds: new blocks and new work. Each ends the pause before the next round. */
export interface RoundSignals {
  /** Signals that a chain may have a new block. */
  block(chainId: number): void
  /** Signals work that was not looked at yet. */
  work(): void
  /** Signals since the last call; undefined if there were none. */
  take(): RoundSignal | undefined
  /**
   * Calls back once, on the next signal or at once if one waits to be taken. There is one listener: the last.
   * @returns a function that ends the listening
   */
  listen(onTold: () => void): () => void
}

export function createRoundSignals(): RoundSignals {
  let chainIds = new Set<number>()
  let hasWork = false
  let listener: (() => void) | undefined
  const hasSignal = () => hasWork || chainIds.size > 0
  const deliver = () => {
    if (!hasSignal()) return
    const callback = listener
    listener = undefined
    callback?.()
  }
  return {
    block(chainId) {
      chainIds.add(chainId)
      deliver()
    },
    work() {
      hasWork = true
      deliver()
    },
    take() {
      if (!hasSignal()) return undefined
      const roundSignal = { chainIds, hasWork }
      chainIds = new Set()
      hasWork = false
      return roundSignal
    },
    listen(onTold) {
      listener = onTold
      deliver()
      return () => {
        listener = undefined
      }
    },
  }
}

/** A stop waits so long for the running round, which may hang on a silent node; its requests have time limits of their own. */
const lastRoundMs = 8_000
/** Shortest pause between two rounds, however many signals come. */
const leastMs = 50

/**
 * Repeats `run` until stopped; a round that fails does not end the loop. A round by the clock, which looks at everything,
 * begins `everyMs` after the end of the last such round and gets no signal. In between, signals begin rounds that look at
 * what they name.
 */
export function startLoop(options: {
  readonly everyMs: number
  readonly waker: Pick<RoundSignals, 'take' | 'listen'>
  readonly run: (roundSignal: RoundSignal | undefined) => Promise<void>
  readonly onFailure: (error: unknown) => void
}): Loop {
  const { everyMs, waker, run, onFailure } = options
  const stopping = new AbortController()
  const { signal: stopSignal } = stopping
  const pause = (ms: number, until: AbortSignal) =>
    sleep(ms, undefined, { signal: until }).catch(() => undefined)

  /** Waits for a signal, but no longer than `ms`. */
  async function untilSignal(ms: number): Promise<void> {
    const ended = new AbortController()
    const end = () => ended.abort()
    stopSignal.addEventListener('abort', end)
    if (stopSignal.aborted) end()
    const unlisten = waker.listen(end)
    await pause(Math.max(ms, 0), ended.signal)
    unlisten()
    stopSignal.removeEventListener('abort', end)
  }

  async function runRounds(): Promise<void> {
    /** Time at which the next round by the clock is due: the first one at once. */
    let clockAtMs = performance.now()
    while (!stopSignal.aborted) {
      const roundSignal = waker.take()
      const isByClock = performance.now() >= clockAtMs
      if (isByClock || roundSignal !== undefined) {
        try {
          await run(isByClock ? undefined : roundSignal)
        } catch (error) {
          if (!stopSignal.aborted) onFailure(error)
        }
        if (isByClock) clockAtMs = performance.now() + everyMs
        await pause(Math.min(leastMs, everyMs), stopSignal)
      }
      await untilSignal(clockAtMs - performance.now())
    }
  }

  const ended = runRounds()
  return {
    async stop() {
      stopping.abort()
      const waiting = new AbortController()
      await Promise.race([ended, pause(lastRoundMs, waiting.signal)])
      waiting.abort()
    },
  }
}
