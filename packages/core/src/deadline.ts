import { setMaxListeners } from 'node:events'
import { UpstreamUnavailableError } from './errors.ts'

/** Abort signal of one piece of work, which its caller, a time limit or `end` aborts. */
export type Deadline = {
  readonly signal: AbortSignal
  /** True after the time limit aborted the work; false when the caller did. */
  hasPassed(): boolean
  /** Frees timer and listener; call it once the work is over. */
  release(): void
  /** Does as `release`, and aborts pending work that has no use any more. */
  end(): void
}

/**
 * Aborts with `parent` or after `timeoutMs`, whichever is first; without `timeoutMs` there is no time limit.
 * @param late makes the error with which the time limit aborts
 */
export function startDeadline(
  parent: AbortSignal | undefined,
  timeoutMs?: number,
  late: (timeoutMs: number) => Error = lateError,
): Deadline {
  const controller = new AbortController()
  let passed = false
  // Every call in flight adds a listener, and Node warns of a leak from eleven on.
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
    const rejectWithReason = () => reject(signal.reason)
    if (signal.aborted) rejectWithReason()
    else signal.addEventListener('abort', rejectWithReason, { once: true })
  })
}

/** Error with which a time limit aborts work by default. */
export function lateError(timeoutMs: number): UpstreamUnavailableError {
  return new UpstreamUnavailableError(`No answer within ${timeoutMs} ms.`, { code: 'REQUEST_TIMED_OUT' })
}
