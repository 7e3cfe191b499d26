import { type SqlDatabase, UpstreamUnavailableError } from '@causeway/core'
import type { ReadinessCheck } from '@causeway/http'
import { noteReader, secondsSinceRead } from '../stops/stopStore.ts'

/** A solver waits 20 s for an answer at most, and asks again at once. */
const silentSeconds = 45
const noteEveryMs = 5_000

/**
 * Notes that a solver asks for work, which is reading the stops as well, and tells when none does any more. Every
 * process of the database knows it.
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
      // Work is told while nothing can be written, too.
      await noteReader(database, 'solver').catch(() => {})
    },
    check: {
      name: 'solver work',
      isShownOnly: true,
      async check() {
        const ageSeconds = (await secondsSinceRead(database, 'solver')) ?? (now() - startedMs) / 1_000
        if (ageSeconds <= silentSeconds) return ageSeconds
        throw new UpstreamUnavailableError('No solver asks for work.', {
          ...{ code: 'SOLVER_SILENT', data: { ageSeconds: Math.round(ageSeconds) } },
        })
      },
    },
  }
}
