import { bpsDenominator } from '@causeway/core'
import type { DepositAddressing } from '@causeway/families/rules'
import type { PricedDeposit } from '../../../pricing/priceDeposit.ts'

const blockGraceSecondsMax = 15

/**
 * Seconds after `expiresAt` in which a deposit still counts as in time: one block, capped. A sweep may have
 * the longer grace of `sweptGraceSeconds`.
 * @source rule L-60
 */
export function blockGraceSeconds({ blockTimeMs }: { readonly blockTimeMs: number }): number {
  return Math.min(Math.ceil(blockTimeMs / 1_000), blockGraceSecondsMax)
}

/**
 * Seconds of grace for a deposit that the solver makes by a sweep: the duration of the sweep. It applies if the sweep was asked
 * for in time and nobody else could move the money meanwhile; else the payer would have a free option on the price.
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

/** Seconds after which a quorum of endpoints surely shows a new block. */
const propagationSeconds = 30

/**
 * True if a quote's price had expired before the block of its deposit. Only the block's time counts, because times of sending
 * or reporting can be claimed afterwards. A producer may date a block in the past, though, so a block that a quorum did not
 * have well after the expiry is late whatever its time.
 * @param args.blockTimeSeconds time of the deposit's present block; after a reorganization it is judged anew
 * @param args.graceSeconds by which the expiry is extended
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
  return blockTimeSeconds > endSeconds || minedAfterSeconds > endSeconds + propagationSeconds
}

/** Price of a late deposit at present. */
export type LatePrice =
  | ({ readonly state: 'priced' } & PricedDeposit)
  /** It cannot be quoted now, for example for lack of a route or inventory, or since fees exceed it. */
  | { readonly state: 'refused' }
  /** Market data is missing at the moment. */
  | { readonly state: 'unknown' }

export type LateRefundReason =
  | 'QUOTE_EXPIRED_PRICE_MOVED'
  | 'QUOTE_EXPIRED_NOT_QUOTABLE'
  | 'QUOTE_EXPIRED_MARKET_UNAVAILABLE'

/** Decision about a fitting deposit by its time. */
export type LateStep =
  /** `gasCharged` is the charge for the fill's gas at current prices; absent where the quote's prices apply. */
  | { readonly action: 'bind'; readonly gasCharged?: bigint | undefined }
  | { readonly action: 'wait' }
  | { readonly action: 'refund'; readonly reason: LateRefundReason }

/**
 * Decides on a late deposit. It is filled as quoted if it would buy at least the quoted output at current prices, within the
 * tolerance; else it is refunded. The user never gets more than the quote. Pure.
 * @param args.promised quoted output, in smallest units
 * @param args.toleranceBps how much less than the quoted output the current prices may give
 * @param args.waitsUntilSeconds end of the wait for a market that cannot be read, in Unix seconds
 * @source rules L-60, L-61
 */
export function lateStep(args: {
  readonly promised: bigint
  readonly price: LatePrice
  readonly toleranceBps: number
  /** True if the quote has a reward. Its hold has ended, so the deposit must earn the whole reward anew. */
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
      const minimumOutTimesBps = promised * (bpsDenominator - BigInt(toleranceBps))
      if (price.amountOut * bpsDenominator >= minimumOutTimesBps)
        return { action: 'bind', gasCharged: price.gasCharged }
      return { action: 'refund', reason: 'QUOTE_EXPIRED_PRICE_MOVED' }
    }
  }
}
