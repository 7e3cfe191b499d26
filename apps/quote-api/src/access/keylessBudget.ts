import { DomainError } from '@causeway/core'
import type { ClaimUnits, UnitClaim, UnitGrant } from '@causeway/http'

/** Units that callers without an API key may have within a minute: each caller, and all together; 0: without limit. */
export type KeylessLimits = { readonly perCaller: number; readonly all: number }

/** Limits what callers without an API key get, where each unit costs the operator money, e.g. a signed order. */
export interface KeylessBudget {
  /**
   * Takes one unit from each caller's budget, then one from the budget of all, so that a caller who has spent his own
   * takes nothing from others.
   * @param callers names that one request counts for, such as its address
   * @throws KeylessBudgetSpentError
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
 * @param options.bucket tells these units apart from those of other budgets, which the same windows count
 * @param options.claim counts for all processes together; without it, or when it throws, this process counts alone
 * @param options.what plural noun for the units, for the refusal's message
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
      // The prefix keeps a caller that is named `all` apart from the budget of all.
      for (const caller of callers) await takeOne(`of ${caller}`, limits.perCaller)
      await takeOne(everybody, limits.all)
    },
  }
}

/** Callers whose windows are kept in memory; one more drops the oldest. */
const callersMax = 100_000

/** Counts in the memory of this process, by the same rule as the windows in the database. */
function createLocalClaim(now: () => number): ClaimUnits {
  const windows = new Map<string, { taken: number; readonly endsAtMs: number }>()
  return async (claims) =>
    claims.map(({ bucket, caller, windowMs: durationMs, max, wanted }) => {
      const name = `${bucket} ${caller}`
      const nowMs = now()
      let window = windows.get(name)
      if (window === undefined || window.endsAtMs <= nowMs) {
        windows.delete(name)
        const [oldest] = windows.keys()
        if (windows.size >= callersMax && oldest !== undefined) windows.delete(oldest)
        window = { taken: 0, endsAtMs: nowMs + durationMs }
        windows.set(name, window)
      }
      const granted = Math.min(wanted, Math.max(0, max - window.taken))
      window.taken += granted
      return { granted, taken: window.taken, endsInMs: window.endsAtMs - nowMs }
    })
}
