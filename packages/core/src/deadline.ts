import { setMaxListeners } from 'node:events'
import { UpstreamUnavailableError } from './errors.ts'

/** A signal with an end of its own, on top of the caller's. */
export type Deadline = {
  readonly signal: AbortSignal
  hasPassed(): boolean
  /** Frees timer and listener; call it once the work is over. */
  release(): void
}

/**
 * Aborts with `parent` or after `timeoutMs`, whichever is first. Written out because a signal that
 * `AbortSignal.any` makes of `AbortSignal.timeout` never fires on Node 20 once garbage was collected: it
 * holds its sources weakly.
 */
export function startDeadline(parent: AbortSignal, timeoutMs: number): Deadline {
  const controller = new AbortController()
  let passed = false
  // Every call in flight listens to one parent; Node would take more than ten listeners for a leak.
  setMaxListeners(0, parent)
  const onParentAbort = () => controller.abort(parent.reason)
  const timer = setTimeout(() => {
    passed = true
    controller.abort(lateError(timeoutMs))
  }, timeoutMs).unref()
  if (parent.aborted) onParentAbort()
  else parent.addEventListener('abort', onParentAbort, { once: true })
  return {
    signal: controller.signal,
    hasPassed: () => passed,
    release() {
      clearTimeout(timer)
      parent.removeEventListener('abort', onParentAbort)
    },
  }
}

/** Rejects with the reason of `signal`: for races with work that may not heed it. */
export function whenAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const end = () => reject(signal.reason)
    if (signal.aborted) end()
    else signal.addEventListener('abort', end, { once: true })
  })
}

/** What is aborted by a time limit fails with this. */
export function lateError(timeoutMs: number): UpstreamUnavailableError {
  return new UpstreamUnavailableError(`No answer within ${timeoutMs} ms.`, { code: 'REQUEST_TIMED_OUT' })
}
