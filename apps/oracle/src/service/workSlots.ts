import { AttestationError } from '../attestations/errors.ts'

/** Bounds the attestations that are being worked on; what is beyond is refused at once, never queued. */
export interface WorkSlots {
  /** @throws AttestationError `OVERLOADED` */
  run<Result>(work: () => Promise<Result>): Promise<Result>
  readonly inUse: number
}

/** @source ledger-and-safety.md 4.7 */
export function createWorkSlots(slotsMax: number): WorkSlots {
  let inUse = 0
  return {
    get inUse() {
      return inUse
    },
    async run(work) {
      if (inUse >= slotsMax) {
        throw new AttestationError('OVERLOADED', 'Too many attestations are being worked on.', {
          retryAfterSeconds: 1,
        })
      }
      inUse += 1
      try {
        return await work()
      } finally {
        inUse -= 1
      }
    },
  }
}

/**
 * Ends work that takes too long, even work that does not heed its signal.
 * @throws AttestationError `REQUEST_TIMED_OUT`
 */
export async function withinDeadline<Result>(
  deadlineMs: number,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const controller = new AbortController()
  const late = new AttestationError('REQUEST_TIMED_OUT', 'The chains did not answer in time.', {
    retryAfterSeconds: 1,
  })
  const stop = () => controller.abort(signal.reason)
  const timer = setTimeout(() => controller.abort(late), deadlineMs)
  signal.addEventListener('abort', stop, { once: true })
  if (signal.aborted) stop()
  try {
    const over = new Promise<never>((_resolve, reject) => {
      const end = () => reject(controller.signal.reason)
      if (controller.signal.aborted) end()
      else controller.signal.addEventListener('abort', end, { once: true })
    })
    return await Promise.race([work(controller.signal), over])
  } catch (error) {
    // A reader that was aborted may report the abort in its own words.
    throw controller.signal.reason === late ? late : error
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', stop)
  }
}
