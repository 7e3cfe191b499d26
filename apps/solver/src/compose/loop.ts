import { setTimeout as sleep } from 'node:timers/promises'
import type { RoundSignal } from '../filling/solverRound.ts'

export type Loop = {
  /** No round begins after this; waits for the one under way, but not for ever. */
  stop(): Promise<void>
}

/** Signals that end the pause between two rounds. */
export interface RoundSignals {
  /** Signals that a chain may have a new block. */
  block(chainId: number): void
  /** Signals work that was not looked at yet. */
  work(): void
  /** Signals since the last call; undefined if there were none. */
  take(): RoundSignal | undefined
  /** Calls back on the next signal, at once if one waits to be taken. @returns a function that ends the listening */
  listen(onTold: () => void): () => void
}

export function createRoundSignals(): RoundSignals {
  let chainIds = new Set<number>()
  let hasWork = false
  let listener: (() => void) | undefined
  const isTold = () => hasWork || chainIds.size > 0
  const deliver = () => {
    if (!isTold()) return
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
      if (!isTold()) return undefined
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

/** A round may hang on a node that is stopped; what it waits for has time limits of its own. */
const lastRoundMs = 8_000
/** Shortest pause between two rounds, however many signals come. */
const leastMs = 50

/**
 * Repeats `run` until stopped; a round that fails does not end it. By the clock a round looks at everything, `everyMs`
 * after the one before; in between at what was told of.
 */
export function startLoop(options: {
  readonly everyMs: number
  readonly waker: Pick<RoundSignals, 'take' | 'listen'>
  readonly run: (roundSignal: RoundSignal | undefined) => Promise<void>
  readonly onFailure: (error: unknown) => void
}): Loop {
  const { everyMs, waker: signals, run, onFailure } = options
  const stopping = new AbortController()
  const { signal } = stopping
  const pause = (ms: number, within: AbortSignal) =>
    sleep(ms, undefined, { signal: within }).catch(() => undefined)

  /** Waits for a signal, but no longer than `ms`. */
  async function untilTold(ms: number): Promise<void> {
    const ended = new AbortController()
    const end = () => ended.abort()
    signal.addEventListener('abort', end)
    if (signal.aborted) end()
    const unlisten = signals.listen(end)
    await pause(Math.max(ms, 0), ended.signal)
    unlisten()
    signal.removeEventListener('abort', end)
  }

  async function rounds(): Promise<void> {
    let clockAtMs = performance.now()
    while (!signal.aborted) {
      const roundSignal = signals.take()
      const isByClock = performance.now() >= clockAtMs
      if (isByClock || roundSignal !== undefined) {
        try {
          await run(isByClock ? undefined : roundSignal)
        } catch (error) {
          if (!signal.aborted) onFailure(error)
        }
        if (isByClock) clockAtMs = performance.now() + everyMs
        await pause(Math.min(leastMs, everyMs), signal)
      }
      await untilTold(clockAtMs - performance.now())
    }
  }

  const ended = rounds()
  return {
    async stop() {
      stopping.abort()
      const patience = new AbortController()
      await Promise.race([ended, pause(lastRoundMs, patience.signal)])
      patience.abort()
    },
  }
}
