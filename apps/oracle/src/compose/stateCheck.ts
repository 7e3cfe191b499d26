import { UpstreamUnavailableError } from '@causeway/core'
import type { ReadinessCheck } from '@causeway/http'

/** Period of a cap. */
const hourMs = 3_600_000

/**
 * Signing goes on: what was signed counts in this process, and a restart would forget what is not kept. After a start
 * without counts each cap has begun a new hour, which the check tells as long as that hour lasts.
 * @param options.isKept whether all that must outlive the process is in `STATE_DIR`
 * @param options.beganEmpty whether it held no counts at the start
 * @source rules O-93, O-128
 */
export function stateCheck(options: {
  readonly isKept: () => boolean
  readonly beganEmpty: boolean
  readonly nowMs: () => number
}): ReadinessCheck {
  const { isKept, beganEmpty, nowMs } = options
  const startedMs = nowMs()
  return {
    ...{ name: 'state', isShownOnly: true },
    async check() {
      if (!isKept())
        throw new UpstreamUnavailableError('STATE_DIR takes nothing more.', { code: 'STATE_NOT_KEPT' })
      if (beganEmpty && nowMs() - startedMs < hourMs)
        throw new UpstreamUnavailableError('STATE_DIR held no counts at the start.', { code: 'STATE_EMPTY' })
    },
  }
}
