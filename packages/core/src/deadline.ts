import { setMaxListeners } from 'node:events'
import { UpstreamUnavailableError } from './errors.ts'

/** A signal with an end of its own, on top of the caller's. */
export type Deadline = {
  readonly signal: AbortSignal
  hasPassed(): boolean
  /** Frees timer and listener; call it once the work is over. */
  release(): void
  /** Does as `release`, and aborts pending work that has no use any more. */
  end(): void
}

/**
 * Aborts with `parent` or after `timeoutMs`, whichever is first. Without a parent its owner ends it, without a
 * time it lasts as long as it is waited for.
 */
export function startDeadline(
  parent: AbortSignal | undefined,
  timeoutMs?: number,
  late: (timeoutMs: number) => Error = lateError,
): Deadline {
  const controller = new AbortController()
  let passed = false
  // Every call in flight listens; Node would take more than ten listeners for a leak.
  setMaxListeners(0, controller.signal, ...(parent === undefined ? [] : [parent]))
  const onParentAbort = () => controller.abort(parent?.reason)
  const pass = (limitMs: number) => {
    passed = true
    controller.abort(late(limitMs))
  }
  const timer = timeoutMs === undefined ? undefined : setTimeout(pass, timeoutMs, timeoutMs).unref()
  if (parent?.aborted) onParentAbort()
  else parent?.addEventListener('abort', onParentAbort, { once: true })
  const release = () => {
    clearTimeout(timer)
    parent?.removeEventListener('abort', onParentAbort)
  }
  return {
    signal: controller.signal,
    hasPassed: () => passed,
    release,
    end() {
      release()
      controller.abort()
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

/** Error of work that a time limit aborts, unless its owner sets another one. */
export function lateError(timeoutMs: number): UpstreamUnavailableError {
  return new UpstreamUnavailableError(`No answer within ${timeoutMs} ms.`, { code: 'REQUEST_TIMED_OUT' })
}
