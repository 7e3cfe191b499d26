import { bpsDenominator, divideDown, minBigint, type PricedUnit, usdValueDown } from '@causeway/core'

const usdX18PerMicroUsd = 10n ** 12n

/** Worth of a skew in whole micro-USD: of a cost no more than it is, of a reward no less. */
export function skewMicroUsd(skew: bigint, price: PricedUnit): bigint {
  return divideDown(usdValueDown(skew, price), usdX18PerMicroUsd)
}

/** Figures of bound orders and other processes, from which the budget of this one follows; in micro-USD. */
export type BudgetReading = {
  /** Skew costs that were kept within 24 hours, less the rewards of bound orders. */
  readonly bookedMicroUsd: bigint
  /** Other processes may promise so much. */
  readonly claimedMicroUsd: bigint
}

/** The budget of rewards for 24 hours, as one process knows it; in micro-USD. @source Q-46 */
export interface RewardBudget {
  /** The most that one more quote may earn; zero or below: nothing. */
  left(asker: { readonly hasKey: boolean }): bigint
  hold(microUsd: bigint, asker: { readonly hasKey: boolean }): void
  release(microUsd: bigint, asker: { readonly hasKey: boolean }): void
  /** Counts a reward that is about to be bound, until the database is read again. */
  spend(microUsd: bigint): void
  /**
   * Lowers at once what may be promised to what is left, and raises it with `confirm` alone.
   * @param pendingMicroUsd rewards that were deposited for and are not booked
   * @returns what this process may promise from now on, for others to leave alone
   */
  claim(read: BudgetReading, pendingMicroUsd: bigint): bigint
  /** The claim is stored. */
  confirm(): void
}

/**
 * @param options.perDayMicroUsd beside the skew costs that were kept
 * @param options.processes of the service: each claims its part of what is free
 * @param options.keylessBps part that quotes without a key may hold
 */
export function createRewardBudget(options: {
  readonly perDayMicroUsd: bigint
  readonly processes: number
  readonly keylessBps: number
}): RewardBudget {
  const { perDayMicroUsd } = options
  const processes = BigInt(options.processes)
  const keylessBps = BigInt(options.keylessBps)
  let held = 0n
  let heldKeyless = 0n
  let spent = 0n
  /** Bounds of all that is held: the claimed one, and the one that holds now. */
  let claimedLimit = 0n
  let limit = 0n

  function count(microUsd: bigint, { hasKey }: { readonly hasKey: boolean }): void {
    held += microUsd
    if (!hasKey) heldKeyless += microUsd
  }
  return {
    left({ hasKey }) {
      const left = limit - held - spent
      return hasKey ? left : minBigint(left, divideDown(limit * keylessBps, bpsDenominator) - heldKeyless)
    },
    hold: count,
    release: (microUsd, asker) => count(-microUsd, asker),
    spend(microUsd) {
      spent += microUsd
    },
    claim({ bookedMicroUsd, claimedMicroUsd }, pendingMicroUsd) {
      const free = perDayMicroUsd + bookedMicroUsd - claimedMicroUsd - pendingMicroUsd - held
      claimedLimit = held + (free > 0n ? divideDown(free, processes) : free)
      limit = minBigint(limit, claimedLimit)
      spent = 0n
      // A promise stands, even where nothing is left.
      return claimedLimit > held ? claimedLimit : held
    },
    confirm() {
      limit = claimedLimit
    },
  }
}
