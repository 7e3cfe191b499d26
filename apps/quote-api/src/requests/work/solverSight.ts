import { type SqlDatabase, UpstreamUnavailableError } from '@causeway/core'
import type { ReadinessCheck } from '@causeway/http'
import { noteReader, secondsSinceRead } from '../stops/stopStore.ts'

/** Seconds after which solvers count as silent. Each asks at least every 20 s. */
const silentSeconds = 45
const noteEveryMs = 5_000

/**
 * Notes in the database when a solver asks for work, by which it also learns of stops, and makes the readiness check that
 * fails once none has asked for a while.
 * @param options.now Unix milliseconds
 * @source rule O-91
 */
export function createSolverSight(options: {
  readonly database: Pick<SqlDatabase, 'query'>
  readonly now: () => number
}): { readonly note: () => Promise<void>; readonly check: ReadinessCheck } {
  const { database, now } = options
  const startedMs = now()
  let notedMs = 0
  return {
    async note() {
      if (now() - notedMs < noteEveryMs) return
      notedMs = now()
      // A solver gets work even while the database cannot be written.
      await noteReader(database, 'solver').catch(() => {})
    },
    check: {
      name: 'solver work',
      // Every process would fail alike, so none becomes unready.
      isShownOnly: true,
      async check() {
        const ageSeconds = (await secondsSinceRead(database, 'solver')) ?? (now() - startedMs) / 1_000
        if (ageSeconds <= silentSeconds) return ageSeconds
        throw new UpstreamUnavailableError('No solver asks for work.', {
          code: 'SOLVER_SILENT',
          data: { ageSeconds: Math.round(ageSeconds) },
        })
      },
    },
  }
}
