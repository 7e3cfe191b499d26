import { UpstreamUnavailableError } from '@causeway/core'
import type { ReadinessCheck } from '@causeway/http'

/** Period of a cap. */
const hourMs = 3_600_000

/**
 * Check of `/ready` on `STATE_DIR`, for operators: the oracle goes on signing. It fails while counts cannot be written,
 * because a restart would forget them, and for an hour after a start without counts, because caps then began anew.
 * @param options.isKept true if all state that must outlive the process is in `STATE_DIR`
 * @param options.beganEmpty true if `STATE_DIR` had no counts at the start
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
    name: 'state',
    isShownOnly: true,
    async check() {
      if (!isKept())
        throw new UpstreamUnavailableError('STATE_DIR takes nothing more.', { code: 'STATE_NOT_KEPT' })
      if (beganEmpty && nowMs() - startedMs < hourMs)
        throw new UpstreamUnavailableError('STATE_DIR held no counts at the start.', { code: 'STATE_EMPTY' })
    },
  }
}
