import { bpsDenominator } from '@causeway/core'
import type { DepositAddressing } from '@causeway/families/rules'
import type { PricedDeposit } from '../../pricing/priceDeposit.ts'

const blockGraceSecondsMax = 15

/**
 * What a deposit on an EVM origin has beside `expiresAt`: one block, and never more. A family whose blocks come
 * seldom needs a grace of its own, and hands it to the same rule.
 * @source rule L-60
 */
export function blockGraceSeconds({ blockTimeMs }: { readonly blockTimeMs: number }): number {
  return Math.min(Math.ceil(blockTimeMs / 1_000), blockGraceSecondsMax)
}

/**
 * What a deposit of the solver's has beside that: as long as its sweep may take, where it was asked for in time and
 * nobody else could move the money meanwhile. So nobody holds an option; whoever asks for it late has no more than
 * others.
 */
export function sweptGraceSeconds(args: {
  readonly expiresAtSeconds: number
  readonly sweepAskedAtSeconds: number | undefined
  readonly addresses: Pick<DepositAddressing, 'sweepSeconds' | 'isKeptWhileSwept'> | undefined
}): number {
  const { expiresAtSeconds, sweepAskedAtSeconds = Number.POSITIVE_INFINITY, addresses } = args
  if (addresses?.isKeptWhileSwept !== true || sweepAskedAtSeconds > expiresAtSeconds) return 0
  return addresses.sweepSeconds
}

/** So much later than it was made, a quorum of endpoints shows a block. */
const showingSeconds = 30

/**
 * Whether a quote's price had ended before the block of a deposit, in every family. When it was sent, handed in or seen does not
 * count: only what a chain shows cannot be chosen afterwards. A block says its own time, and whoever makes
 * blocks after an outage gives them times that have passed: one that was not there yet, well after the
 * price, is late whatever it says.
 * @param args.blockTimeSeconds of the block it is in now: one that moved to another block counts anew
 * @param args.graceSeconds of the origin's family, beside `expiresAt`
 * @param args.minedAfterSeconds when a quorum did not have that block; undefined where nobody looked
 */
export function isLate(args: {
  readonly blockTimeSeconds: number
  readonly minedAfterSeconds: number | undefined
  readonly expiresAtSeconds: number
  readonly graceSeconds: number
}): boolean {
  const { blockTimeSeconds, minedAfterSeconds = blockTimeSeconds } = args
  const endSeconds = args.expiresAtSeconds + args.graceSeconds
  return blockTimeSeconds > endSeconds || minedAfterSeconds > endSeconds + showingSeconds
}

/** What a late deposit buys by the prices of now. */
export type LatePrice =
  | ({ readonly state: 'priced' } & PricedDeposit)
  /** It could not be quoted now: no route, no inventory, not worth its fees. */
  | { readonly state: 'refused' }
  /** The market cannot be read. */
  | { readonly state: 'unknown' }

export type LateRefundReason =
  | 'QUOTE_EXPIRED_PRICE_MOVED'
  | 'QUOTE_EXPIRED_NOT_QUOTABLE'
  | 'QUOTE_EXPIRED_MARKET_UNAVAILABLE'

export type LateStep =
  /** `gasCharged`: of the prices that it was judged by; absent where the quote's hold. */
  | { readonly action: 'bind'; readonly gasCharged?: bigint | undefined }
  | { readonly action: 'wait' }
  | { readonly action: 'refund'; readonly reason: LateRefundReason }

/**
 * Whether a late deposit is still filled as quoted: when the solver gets no less for it than it was quoted
 * for, but for the tolerance. A market that is better for the user changes nothing. Pure.
 * @param args.promised output of the quote, in smallest units
 * @param args.waitsUntilSeconds how long nothing is decided while the market cannot be read
 * @source rules L-60, L-61
 */
export function lateStep(args: {
  readonly promised: bigint
  readonly price: LatePrice
  readonly toleranceBps: number
  /** A reward was held for it while its price bound: later it is earned anew, in full, or the deposit goes back. */
  readonly hadReward: boolean
  readonly nowSeconds: number
  readonly waitsUntilSeconds: number
}): LateStep {
  const { promised, price, hadReward } = args
  const toleranceBps = hadReward ? 0 : args.toleranceBps
  switch (price.state) {
    case 'unknown':
      if (args.nowSeconds < args.waitsUntilSeconds) return { action: 'wait' }
      return { action: 'refund', reason: 'QUOTE_EXPIRED_MARKET_UNAVAILABLE' }
    case 'refused':
      return { action: 'refund', reason: 'QUOTE_EXPIRED_NOT_QUOTABLE' }
    case 'priced': {
      const least = promised * (bpsDenominator - BigInt(toleranceBps))
      if (price.amountOut * bpsDenominator >= least) return { action: 'bind', gasCharged: price.gasCharged }
      return { action: 'refund', reason: 'QUOTE_EXPIRED_PRICE_MOVED' }
    }
  }
}
