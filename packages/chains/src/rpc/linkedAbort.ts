import { setMaxListeners } from 'node:events'

/** A controller that also aborts with `signal`, and after `timeoutMs` when given. */
export type LinkedAbort = {
  readonly signal: AbortSignal
  abort(): void
  /** Ends the link and the timer; call it when the work is over. */
  release(): void
}

export function linkAbort(signal: AbortSignal, timeoutMs?: number): LinkedAbort {
  const controller = new AbortController()
  // Every call in flight listens; Node would take more than ten for a leak.
  setMaxListeners(0, controller.signal, signal)
  const abort = () => controller.abort()
  const timer = timeoutMs === undefined ? undefined : setTimeout(abort, timeoutMs)
  signal.addEventListener('abort', abort, { once: true })
  if (signal.aborted) abort()
  return {
    signal: controller.signal,
    abort,
    release() {
      clearTimeout(timer)
      signal.removeEventListener('abort', abort)
    },
  }
}
