import { DomainError } from '@causeway/core'
import type { ClaimUnits, UnitClaim, UnitGrant } from '@causeway/http'

/** Units that callers without a key may have within a minute; 0: without limit. */
export type KeylessLimits = { readonly perCaller: number; readonly all: number }

/** A budget of something that costs the operator money each time. */
export interface KeylessBudget {
  /**
   * Takes one unit of each caller, and one of all where every caller has some left: whoever has spent his own takes
   * nothing from others. @throws KeylessBudgetSpentError
   */
  take(callers: readonly string[]): Promise<void>
}

class KeylessBudgetSpentError extends DomainError {
  readonly code = 'KEYLESS_BUDGET_SPENT'
  readonly kind = 'rate_limited'
}

const windowMs = 60_000
const everybody = 'all'

/**
 * @param options.claim where processes count together; what it throws is counted by this process alone
 * @param options.what is given, in words for the refusal
 */
export function createKeylessBudget(options: {
  readonly bucket: string
  readonly what: string
  readonly limits: KeylessLimits
  readonly claim: ClaimUnits | undefined
  readonly now: () => number
}): KeylessBudget {
  const { bucket, what: unitName, limits, claim, now } = options
  const claimLocally = createLocalClaim(now)
  const grantOf = async (unit: UnitClaim): Promise<UnitGrant> => {
    const [grant] = (await claim?.([unit]).catch(() => undefined)) ?? (await claimLocally([unit]))
    if (grant === undefined) throw new Error(`nothing was counted for ${bucket}`)
    return grant
  }
  const takeOne = async (caller: string, max: number): Promise<void> => {
    if (max === 0) return
    const { granted, endsInMs } = await grantOf({ bucket, caller, windowMs, max, wanted: 1 })
    if (granted > 0) return
    const retryAfterSeconds = Math.max(1, Math.ceil(endsInMs / 1_000))
    const callerText = caller === everybody ? 'all callers' : 'one caller'
    throw new KeylessBudgetSpentError(
      `Without an API key ${callerText} may have ${max} ${unitName} a minute: wait, or send a key.`,
      { retryAfterSeconds },
    )
  }
  return {
    async take(callers) {
      for (const caller of callers) await takeOne(`of ${caller}`, limits.perCaller)
      await takeOne(everybody, limits.all)
    },
  }
}

/** As many as a limiter remembers. */
const callersMax = 100_000

/** Counts for this process, as the shared windows do for all. */
function createLocalClaim(now: () => number): ClaimUnits {
  const windows = new Map<string, { taken: number; readonly endsAtMs: number }>()
  return async (claims) =>
    claims.map(({ bucket, caller, windowMs: lasts, max, wanted }) => {
      const name = `${bucket} ${caller}`
      const nowMs = now()
      let window = windows.get(name)
      if (window === undefined || window.endsAtMs <= nowMs) {
        windows.delete(name)
        for (const oldest of windows.size >= callersMax ? windows.keys() : []) {
          windows.delete(oldest)
          break
        }
        window = { taken: 0, endsAtMs: nowMs + lasts }
        windows.set(name, window)
      }
      const granted = Math.min(wanted, Math.max(0, max - window.taken))
      window.taken += granted
      return { granted, taken: window.taken, endsInMs: window.endsAtMs - nowMs }
    })
}
