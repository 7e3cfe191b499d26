import { paceMs, type QuoteChain } from '@causeway/core/config'

/** Age limits beyond those that configuration sets per chain and feed. All in milliseconds. */
export type MarketLimits = {
  /** A chain that was not read for longer is refused with `stale_gas`. */
  readonly gasHardMaxAgeMs: number
  /** A price source that was not read for longer no longer counts, whatever its heartbeat. */
  readonly sourceMaxAgeMs: number
  /** Longest time that a price replaces an unconfirmed jump, for prices that need no second source. */
  readonly priceHoldMaxMs: number
  /** Longest time that a refused price is still shown beside amounts that do not depend on it. */
  readonly shownPriceMaxAgeMs: number
  /** A head further in the future than this is a lie or a broken clock. */
  readonly headAheadMaxMs: number
  /** Time for one refresh of one chain, pools included. */
  readonly refreshTimeoutMs: number
  /** Longest time that `start` waits for the first complete refresh. */
  readonly startTimeoutMs: number
}

export const defaultLimits: MarketLimits = {
  gasHardMaxAgeMs: 30_000,
  sourceMaxAgeMs: 60_000,
  priceHoldMaxMs: 60_000,
  shownPriceMaxAgeMs: 3_600_000,
  // Development nodes run ahead of the clock by a second for each transaction mined on its own.
  headAheadMaxMs: 600_000,
  refreshTimeoutMs: 4_000,
  startTimeoutMs: 10_000,
}

/** Interval of a chain's refreshes: half a block time, at least 1 s and at most 3 s. */
export function pollIntervalMs(chain: Pick<QuoteChain, 'blockTimeMs'>): number {
  return Math.min(Math.floor(paceMs(chain) / 2), 3_000)
}
