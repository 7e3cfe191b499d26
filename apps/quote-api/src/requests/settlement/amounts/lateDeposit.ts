import { bpsDenominator } from '@causeway/core'
import type { DepositAddressing } from '@causeway/families/rules'
import type { PricedDeposit } from '../../../pricing/priceDeposit.ts'

const blockGraceSecondsMax = 15

/**
 * Grace of a deposit on an EVM origin after `expiresAt`, in seconds: one block, capped. A family with slow blocks
 * defines a grace of its own for the same rule.
 * @source rule L-60
 */
export function blockGraceSeconds({ blockTimeMs }: { readonly blockTimeMs: number }): number {
  return Math.min(Math.ceil(blockTimeMs / 1_000), blockGraceSecondsMax)
}

/**
 * Additional grace of a deposit that the solver makes, in seconds: the duration of its sweep, if it was asked for in
 * time and no other account could move the money meanwhile. Otherwise the payer would hold a free option, so a late
 * request gets none.
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

/** Time after which a quorum of endpoints surely shows a block that was made. */
const showingSeconds = 30

/**
 * True if a quote's price had ended before the block of its deposit, in every family. The times of sending, reporting
 * or seeing do not count: only the chain's own time cannot be chosen afterwards. A block states its own time, and after
 * an outage a producer may date blocks in the past, so a block that a quorum lacked well after the price's end is late
 * regardless of its time.
 * @param args.blockTimeSeconds of the current block: a deposit that moved to another block is judged anew
 * @param args.graceSeconds of the origin's family, beside `expiresAt`
 * @param args.minedAfterSeconds time at which a quorum lacked that block; undefined if it was not checked
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

/** Output that a late deposit buys at current prices. */
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
  /** `gasCharged` at the prices that the deposit was judged by; absent where the quote's own prices hold. */
  | { readonly action: 'bind'; readonly gasCharged?: bigint | undefined }
  | { readonly action: 'wait' }
  | { readonly action: 'refund'; readonly reason: LateRefundReason }

/**
 * Decision on a late deposit: it is filled as quoted if the solver gets no less for it than it was quoted for, within
 * the tolerance. A market that is better for the user changes nothing. Pure.
 * @param args.promised output of the quote, in smallest units
 * @param args.waitsUntilSeconds end of the wait for a market that cannot be read, in Unix seconds
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
      const leastOut = promised * (bpsDenominator - BigInt(toleranceBps))
      if (price.amountOut * bpsDenominator >= leastOut)
        return { action: 'bind', gasCharged: price.gasCharged }
      return { action: 'refund', reason: 'QUOTE_EXPIRED_PRICE_MOVED' }
    }
  }
}
