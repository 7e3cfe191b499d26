import { type AssetClass, bpsDenominator, divideUp } from '@causeway/core'

/** Limits of one asset class on the spread between sources of a price, and on its movement between two samples. */
export type ClassGuards = {
  /** Above, the price is degraded. */
  readonly softBps: bigint
  /** Above, the price is refused. */
  readonly hardBps: bigint
  /** A larger move from one sample to the next is a jump, which needs a second source. */
  readonly jumpBps: bigint
}

/** Soft limits are a quarter to a third of the hard ones. @source rule Q-170 */
export const classGuards = {
  stable: { softBps: 50n, hardBps: 200n, jumpBps: 200n },
  major: { softBps: 100n, hardBps: 300n, jumpBps: 300n },
  longtail: { softBps: 500n, hardBps: 1_500n, jumpBps: 1_500n },
} as const satisfies Record<AssetClass, ClassGuards>

/**
 * Distance of a stablecoin from 1 USD: flagged above `flagBps`, refused above `refuseBps`. Past 5 % a
 * market is no longer arbitrage noise: fees computed through it would be a bet on the peg.
 */
export const pegGuards = { flagBps: 50n, refuseBps: 500n } as const

export const oneUsdX18 = 10n ** 18n

/** Grace beyond a feed's heartbeat: the time that its update needs to land. */
export const feedGraceMs = 60_000

/**
 * A pool guards a price only if moving it by the hard limit and back costs at least this much in fees. The bound may be
 * low, because a guard changes no amount: whoever moves a pool can only stop the quotes of one asset for some blocks.
 */
export const poolMoveCostMinUsdX18 = 500n * oneUsdX18

export function distance(a: bigint, b: bigint): bigint {
  return a < b ? b - a : a - b
}

/** |a − b| in bps of `base`, rounded up. @throws RangeError unless `base` is above zero */
export function distanceBps(a: bigint, b: bigint, base: bigint): bigint {
  return divideUp(distance(a, b) * bpsDenominator, base)
}
