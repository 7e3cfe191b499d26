import { bpsDenominator, divideDown, minBigint, type PricedUnit, usdValueDown } from '@causeway/core'

const usdX18PerMicroUsd = 10n ** 12n

/** Worth of a skew in whole micro-USD, rounded down: a cost counts at most, a reward (negative) at least its worth. */
export function skewMicroUsd(skew: bigint, price: PricedUnit): bigint {
  return divideDown(usdValueDown(skew, price), usdX18PerMicroUsd)
}

/** Figures that are read from the database, from which this process's budget follows; in micro-USD. */
export type BudgetReading = {
  /** Skew costs that were kept within 24 hours, less the rewards of bound orders. */
  readonly bookedMicroUsd: bigint
  /** Rewards that other processes have claimed, so may still promise. */
  readonly claimedMicroUsd: bigint
}

/**
 * The budget of rewards for 24 hours, as one process knows it; in micro-USD. The processes share it through claims in
 * the database: each promises rewards only up to its own stored claim. @source Q-46
 */
export interface RewardBudget {
  /** The most that one more quote may earn; zero or below: nothing. */
  left(asker: { readonly hasKey: boolean }): bigint
  /** Counts the reward of an open quote until `release`. */
  hold(microUsd: bigint, asker: { readonly hasKey: boolean }): void
  release(microUsd: bigint, asker: { readonly hasKey: boolean }): void
  /** Counts a reward that is about to be bound, until `claim` is given figures that contain it. */
  spend(microUsd: bigint): void
  /**
   * Computes a new limit. A lower one holds at once; a higher one only after `confirm`, when other processes can read
   * it.
   * @param pendingMicroUsd rewards of bound orders that are not booked
   * @returns the claim to store: what this process may promise from now on
   */
  claim(read: BudgetReading, pendingMicroUsd: bigint): bigint
  /** Tells that the claim is stored. */
  confirm(): void
}

/**
 * @param options.perDayMicroUsd what may be given away within 24 hours beside the skew costs that were kept
 * @param options.processes number of processes of the service: each claims its part of what is free
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
  /** The most that may be held: by the last claim, and now. They differ until a higher claim is confirmed. */
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
      // Every process bears a deficit whole: none promises more until it is gone.
      claimedLimit = held + (free > 0n ? divideDown(free, processes) : free)
      limit = minBigint(limit, claimedLimit)
      spent = 0n
      // Rewards that are held were promised already, so they are claimed even where nothing is left.
      return claimedLimit > held ? claimedLimit : held
    },
    confirm() {
      limit = claimedLimit
    },
  }
}
