import { maxBigint, minBigint } from '@causeway/core'
import { feeAt } from '../quoting/bitcoinFees.ts'

/** A transaction of a line as far as fees depend on it: satoshi, and virtual bytes. */
export type FeeShare = { readonly fee: bigint; readonly virtualBytes: number }

export type LineBid = {
  /** Size of the transaction to be signed. */
  readonly virtualBytes: number
  /** Unconfirmed transactions before it in the line: a miner who includes this one must include all of them. */
  readonly before: readonly FeeShare[]
  /** The highest fee that was offered in its place; undefined for the first offer. */
  readonly replaced: bigint | undefined
  /** Fees of transactions behind the replaced one, which nodes drop with it. */
  readonly dropped: readonly bigint[]
  /** Market price, and the highest allowed bid; satoshi per 1,000 virtual bytes. */
  readonly satPerKvb: bigint
  readonly ceilingSatPerKvb: bigint
}

/** Minimum relay fee for a replacement, in satoshi per 1,000 virtual bytes. @source BIP 125, rule 4 */
export const incrementalSatPerKvb = 1_000n

/**
 * Most unconfirmed transactions in the line. Nodes take 25 that build on each other; the others are left for recipients
 * who spend their payments. @source Bitcoin Core, policy.h
 */
export const unminedMax = 20

/**
 * Fee that lifts a transaction and all before it to the market's price, and at least what nodes ask of a replacement.
 * Nodes ask for the fees of dropped transactions again; they are never paid, so the ceiling rises by them. Pure.
 * @returns undefined where the ceiling does not allow what nodes ask: the last offer stands
 * @source BIP 125, rules 3 and 4
 */
export function lineFee(bid: LineBid): bigint | undefined {
  const { virtualBytes, satPerKvb, ceilingSatPerKvb: ceiling } = bid
  const dropped = bid.dropped.reduce((sum, fee) => sum + fee, 0n)
  const least =
    bid.replaced === undefined ? 0n : bid.replaced + dropped + feeAt(incrementalSatPerKvb, virtualBytes)
  const most = dropped + packageFee(ceiling, bid)
  if (least > most) return undefined
  const wanted = maxBigint(least, packageFee(minBigint(satPerKvb, ceiling), bid))
  return minBigint(wanted, most)
}

/** Fee that lifts the transaction and all before it to `price`, and at least its own fee at that price. */
function packageFee(price: bigint, { virtualBytes, before }: LineBid): bigint {
  const paid = before.reduce((sum, { fee }) => sum + fee, 0n)
  const size = before.reduce((sum, one) => sum + one.virtualBytes, virtualBytes)
  return maxBigint(feeAt(price, virtualBytes), feeAt(price, size) - paid)
}
