/** The market's clock and timers, an interface so that tests control time. */
export interface Clock {
  /** Unix milliseconds. */
  now(): number
  /** Unix milliseconds by a clock that is never set: right where the host's time was right when the process began. */
  steadyNow(): number
  /** Runs `task` once after `delayMs`, without keeping the process alive. @returns a function that cancels it */
  after(delayMs: number, task: () => void): () => void
}

/** The clock of this machine. */
export const systemClock: Clock = {
  now: () => Date.now(),
  steadyNow: () => performance.timeOrigin + performance.now(),
  after(delayMs, task) {
    const timer = setTimeout(task, delayMs).unref()
    return () => clearTimeout(timer)
  },
}

/** The part of a pino logger that the market uses. */
export interface MarketLog {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
}
