import { DomainError } from '@causeway/core'
import { z } from 'zod'

/** One condition that must hold before traffic may come. */
export type ReadinessCheck = {
  readonly name: string
  /**
   * Throws where it does not hold, an error with `ageSeconds` in its data included. @returns an age in seconds, to be
   * shown
   */
  check(signal: AbortSignal): Promise<unknown>
  /** True for what is only shown: every process has it, so that sending traffic elsewhere helps nobody. */
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

/** True if a balancer should send traffic here: all checks hold but those only shown, and the process is not stopping. */
export interface Readiness {
  isDraining(): boolean
  /** From now on not ready, whatever the checks say. */
  startDraining(): void
  /** Told when draining starts; nothing after it. */
  onDraining(listener: () => void): void
  /** One condition more, of a part that comes later. */
  addCheck(check: ReadinessCheck): void
  report(): Promise<ReadinessReport>
  /** By check: since when each report found it failing. */
  failingSince(): ReadonlyMap<string, Date>
}

/** @param options.timeoutMs budget of all checks together; a late check has failed. Default 250 */
export function createReadiness(options: {
  checks: readonly ReadinessCheck[]
  timeoutMs?: number
  /** Told why a check failed; the report itself only says that it did. */
  onFailure?: (name: string, error: unknown) => void
}): Readiness {
  const { timeoutMs = 250, onFailure } = options
  const checks = [...options.checks]
  const drainingListeners: (() => void)[] = []
  const failingSince = new Map<string, Date>()
  let draining = false
  return {
    failingSince: () => failingSince,
    isDraining: () => draining,
    startDraining() {
      draining = true
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
        ...{ ready: allHold && !draining, draining, checks: outcomes },
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
