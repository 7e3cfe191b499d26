import {
  bpsDown,
  divideUp,
  type FeeParts,
  maxBigint,
  minBigint,
  mulDivDown,
  type Order,
  type PricedUnit,
} from '@causeway/core'
import { skewMicroUsd } from '../../../pricing/openQuotes/rewardBudget.ts'
import type { SettledRequest } from '../settledRequest.ts'

type Payment = Order['output']['payments'][number]

/** A deposit for an order, and the input that its quote was priced for; both in smallest units of the input currency. */
export type Deposited = { readonly amount: bigint; readonly quotedInput: bigint }

/**
 * Amount of an output payment that a deposit pays for. The quoted input buys the expected amount, the order's smallest input
 * buys the minimum, and an input in between buys the linear share, rounded down. That is never too much, because fees are
 * fixed amounts and pools give less per unit for larger amounts.
 */
export function paidFor(payment: Payment, order: Order, { amount, quotedInput }: Deposited): bigint {
  const [minimum, expected] = [BigInt(payment.minimumAmount), BigInt(payment.expectedAmount)]
  const inputMinimum = BigInt(order.inputs[0]?.payment.amount ?? 0)
  // A deposit below its order's smallest input is never bound, so that the inputs differ below.
  if (amount >= quotedInput) return expected
  const aboveMinimum = maxBigint(amount - inputMinimum, 0n)
  return minimum + mulDivDown(expected - minimum, aboveMinimum, quotedInput - inputMinimum)
}

/** Amounts that the ledger books once an order is filled. */
export type Booked = {
  /** The deposit up to the quoted input, in smallest units of the fee currency; the excess is refunded. */
  readonly input: bigint
  /** App fees per recipient, in smallest units of the fee currency. */
  readonly appFees: readonly { readonly recipient: string; readonly amount: bigint }[]
  /** Whole micro-USDC that the sponsor owes. */
  readonly debitMicroUsd: bigint
}

/**
 * Computes what the ledger books for a bound deposit: its share of the quoted amounts. With the whole quote, app fees and the
 * sponsor's debit would also cover money that nobody deposited. App fees round down, the debit rounds up. @source rule L-10
 */
export function bookedFor(
  request: Pick<SettledRequest, 'feeBasis' | 'debitMicroUsd'> & {
    readonly quoted: { readonly appFees: readonly { readonly recipient: string; readonly feeBps: string }[] }
  },
  deposited: bigint,
): Booked {
  const { quoted, feeBasis, debitMicroUsd } = request
  const input = minBigint(deposited, feeBasis)
  return {
    input,
    appFees: quoted.appFees.map(({ recipient, feeBps }) => ({
      recipient: recipient.toLowerCase(),
      amount: bpsDown(input, BigInt(feeBps)),
    })),
    debitMicroUsd: divideUp(debitMicroUsd * input, feeBasis),
  }
}

/** A deposit's share of the quoted skew, in micro-USD: positive is a cost, negative a reward. @source Q-47 */
export function bookedSkew(
  {
    quoted,
    feeBasis,
  }: Pick<SettledRequest, 'feeBasis'> & {
    readonly quoted: { readonly fees: Pick<FeeParts, 'skew'>; readonly units: { readonly fee: PricedUnit } }
  },
  deposited: bigint,
): bigint {
  const { fees, units } = quoted
  return skewMicroUsd(mulDivDown(fees.skew, minBigint(deposited, feeBasis), feeBasis), units.fee)
}
