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

/** The deposit for an order, and the input that its quote reckoned with; in the currency of its input. */
export type Deposited = { readonly amount: bigint; readonly quotedInput: bigint }

/**
 * A deposit pays for its share: the quoted amount for the quoted input, the least for the least that the order
 * takes, and its part in between. Fees are fixed amounts and a pool gives less for more, so no deposit is
 * paid more than it is worth.
 */
export function paidFor(payment: Payment, order: Order, { amount, quotedInput }: Deposited): bigint {
  const [least, expected] = [BigInt(payment.minimumAmount), BigInt(payment.expectedAmount)]
  const input = BigInt(order.inputs[0]?.payment.amount ?? 0)
  if (amount >= quotedInput) return expected
  return least + mulDivDown(expected - least, maxBigint(amount - input, 0n), quotedInput - input)
}

/** The bookings of an order that was filled. */
export type Booked = {
  /** The part of the deposit that the quote reckoned with, in smallest units of the fee currency; above goes back. */
  readonly input: bigint
  /** In smallest units of the fee currency. */
  readonly appFees: readonly { readonly recipient: string; readonly amount: bigint }[]
  /** Whole micro-USDC that the sponsor owes. */
  readonly debitMicroUsd: bigint
}

/**
 * A bound deposit books its own part of what was quoted. Booking the quote would pay app fees, and take a
 * sponsor's money, for what nobody deposited. @source rule L-10
 */
export function bookedFor(
  {
    quoted,
    feeBasis,
    debitMicroUsd,
  }: Pick<SettledRequest, 'feeBasis' | 'debitMicroUsd'> & {
    readonly quoted: {
      readonly appFees: readonly { readonly recipient: string; readonly feeBps: string }[]
    }
  },
  deposited: bigint,
): Booked {
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

/** Its share of the quoted skew, in micro-USD: above zero a cost, below zero a reward. @source Q-47 */
export function bookedSkew(
  {
    quoted: { fees, units },
    feeBasis,
  }: Pick<SettledRequest, 'feeBasis'> & {
    readonly quoted: { readonly fees: Pick<FeeParts, 'skew'>; readonly units: { readonly fee: PricedUnit } }
  },
  deposited: bigint,
): bigint {
  return skewMicroUsd(mulDivDown(fees.skew, minBigint(deposited, feeBasis), feeBasis), units.fee)
}
