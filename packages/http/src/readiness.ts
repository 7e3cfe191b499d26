import { DomainError } from '@causeway/core'
import { z } from 'zod'

/** One condition that must hold before a balancer may send traffic to this process. */
export type ReadinessCheck = {
  readonly name: string
  /**
   * Fulfilled while the condition holds; a number is the age in seconds of what was checked, and is shown.
   * @throws when it does not hold; a `DomainError` shows its code, and its `data.ageSeconds` as the age
   */
  check(signal: AbortSignal): Promise<unknown>
  /** True: a failure is shown but does not make the process unready, because every other process has it too. */
  readonly isShownOnly?: boolean
}

export const readinessSchema = z.object({
  ready: z.boolean(),
  draining: z.boolean(),
  checks: z.record(z.string(), z.enum(['ok', 'failed'])),
  reasons: z.record(z.string(), z.string()).optional().describe('Error codes of failed checks that name one'),
  agesSeconds: z.record(z.string(), z.number()).optional(),
})

export type ReadinessReport = z.output<typeof readinessSchema>

/**
 * Tells if a balancer should send traffic to this process: all checks hold (except those only shown), and the
 * process is not draining, which means stopping while it answers the requests that it has.
 */
export interface Readiness {
  isDraining(): boolean
  /** From now on the process is not ready, whatever the checks say. */
  startDraining(): void
  /** Adds a listener that is called once, when draining starts. */
  onDraining(listener: () => void): void
  /** Adds a check of a part that is made later. */
  addCheck(check: ReadinessCheck): void
  report(): Promise<ReadinessReport>
  /** Checks that failed in the latest report, with the time of the first failure in a row. */
  failingSince(): ReadonlyMap<string, Date>
}

/** @param options.timeoutMs time limit of the checks, which run in parallel; a late check has failed. Default 250 */
export function createReadiness(options: {
  checks: readonly ReadinessCheck[]
  timeoutMs?: number
  /** Called with the reason of each failure; the report shows a code at most. */
  onFailure?: (name: string, error: unknown) => void
}): Readiness {
  const { timeoutMs = 250, onFailure } = options
  const checks = [...options.checks]
  const drainingListeners: (() => void)[] = []
  const failingSince = new Map<string, Date>()
  let isDraining = false
  return {
    failingSince: () => failingSince,
    isDraining: () => isDraining,
    startDraining() {
      isDraining = true
      for (const listener of drainingListeners.splice(0)) listener()
    },
    onDraining(listener) {
      drainingListeners.push(listener)
    },
    addCheck(check) {
      checks.push(check)
    },
    async report() {
      const signal = AbortSignal.timeout(timeoutMs)
      const reasons: Record<string, string> = {}
      const agesSeconds: Record<string, number> = {}
      const noteAge = (name: string, age: unknown) => {
        if (typeof age === 'number') agesSeconds[name] = Math.round(age)
      }
      const results = await Promise.all(
        checks.map(async ({ name, check, isShownOnly = false }) => {
          try {
            noteAge(name, await Promise.race([check(signal), rejectOnAbort(signal)]))
            failingSince.delete(name)
            return { name, outcome: 'ok', holds: true } as const
          } catch (error) {
            onFailure?.(name, error)
            if (!failingSince.has(name)) failingSince.set(name, new Date())
            if (error instanceof DomainError) {
              reasons[name] = error.code
              noteAge(name, error.data['ageSeconds'])
            }
            return { name, outcome: 'failed', holds: isShownOnly } as const
          }
        }),
      )
      const allHold = results.every(({ holds }) => holds)
      const outcomes = Object.fromEntries(results.map(({ name, outcome }) => [name, outcome]))
      return {
        ready: allHold && !isDraining,
        draining: isDraining,
        checks: outcomes,
        ...(Object.keys(reasons).length > 0 && { reasons }),
        ...(Object.keys(agesSeconds).length > 0 && { agesSeconds }),
      }
    },
  }
}

function rejectOnAbort(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(new Error('the check took too long')), { once: true })
  })
}
