import { maxBigint, minBigint } from '@causeway/core'
import { feeAt } from '../quoting/bitcoinFees.ts'

/** A transaction of a line as far as fees depend on it: satoshi, and virtual bytes. */
export type FeeShare = { readonly fee: bigint; readonly virtualBytes: number }

export type LineBid = {
  /** Of the transaction to be signed. */
  readonly virtualBytes: number
  /** What nodes may hold before it in the line: a miner who wants this one takes all of them. */
  readonly before: readonly FeeShare[]
  /** The highest fee that was offered in its place; undefined for the first offer. */
  readonly replaced: bigint | undefined
  /** Fees of what nodes may hold behind that one, and drop with it. */
  readonly dropped: readonly bigint[]
  /** What the market says, and the most that may be bid; satoshi per 1,000 virtual bytes. */
  readonly satPerKvb: bigint
  readonly ceiling: bigint
}

/** What nodes ask for their own work, per 1,000 virtual bytes of a replacement. @source BIP 125, rule 4 */
export const incrementalSatPerKvb = 1_000n

/** Nodes count descendants to this number; one place is left for whoever spends what was paid. @source Bitcoin Core, policy.h */
export const unminedMax = 20

/**
 * The fee of a transaction: what lifts it and all before it to the market's price, and no less than nodes ask of a
 * replacement. The ceiling stands above what is dropped for its sake, which pays nothing. Pure.
 * @returns undefined where the ceiling does not allow what nodes ask: the last offer stands
 * @source BIP 125, rules 3 and 4
 */
export function lineFee(bid: LineBid): bigint | undefined {
  const { virtualBytes, satPerKvb, ceiling } = bid
  const dropped = bid.dropped.reduce((sum, fee) => sum + fee, 0n)
  const least =
    bid.replaced === undefined ? 0n : bid.replaced + dropped + feeAt(incrementalSatPerKvb, virtualBytes)
  const most = dropped + packageFee(ceiling, bid)
  if (least > most) return undefined
  const wanted = maxBigint(least, packageFee(minBigint(satPerKvb, ceiling), bid))
  return minBigint(wanted, most)
}

/** What is missing for the whole of it to pay a price, and at least what the transaction alone pays then. */
function packageFee(price: bigint, { virtualBytes, before }: LineBid): bigint {
  const paid = before.reduce((sum, { fee }) => sum + fee, 0n)
  const size = before.reduce((sum, one) => sum + one.virtualBytes, virtualBytes)
  return maxBigint(feeAt(price, virtualBytes), feeAt(price, size) - paid)
}
