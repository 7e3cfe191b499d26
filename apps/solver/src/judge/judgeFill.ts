import type { Order } from '@causeway/core'
import type { FillRequest } from './signedOrder.ts'
import {
  type LossLimits,
  lossOf,
  mostPaidFor,
  refuse,
  type SeenDeposit,
  sumOfValues,
  type Valuer,
  type Verdict,
  wait,
} from './verdict.ts'

/** Facts about a fill. `refuseOrder` and `refuseTerms` have accepted its order and its terms before. */
export type FillFacts = {
  readonly asked: FillRequest & {
    readonly chainId: number
    /** Owed to wallets once it is filled, in the currency of its deposit. */
    readonly appFees?: readonly { readonly amount: bigint }[] | undefined
  }
  readonly order: Order
  /** Deposits that the solver's own endpoints show where the work item names one; undefined until they are deep enough. */
  readonly deposits: readonly SeenDeposit[] | undefined
  /** Canonical spelling of the order's input currency. */
  readonly inputCurrency: string
  /** A refund of the deposit was signed and has not failed: the deposit pays for nothing any more. */
  readonly isGivenBack: boolean
  readonly value: Valuer
  readonly limits: LossLimits
}

/**
 * Verdict on a fill: its deposit must be in the depository for this order, in its currency and at least its amount, and
 * the payments and owed app fees must be worth no more than that, a tolerance and a bounded loss.
 * @source rule L-12
 */
export function judgeFill(facts: FillFacts): Verdict {
  const { asked, order, deposits, value, limits } = facts
  if (facts.isGivenBack) return refuse('the deposit was given back')
  if (deposits === undefined) return wait('the deposit is not deep enough')
  const [input] = order.inputs
  if (input === undefined) return refuse('the order has no input')
  const { payment } = input
  const deposit = deposits.find(
    ({ orderId, chainKey, currency }) =>
      orderId === asked.orderId && chainKey === payment.chainId && currency === facts.inputCurrency,
  )
  if (deposit === undefined) return refuse('nothing was deposited for the order')
  if (deposit.amount < BigInt(payment.amount)) return refuse('less than the order asks for was deposited')
  const received = value(deposit.chainId, deposit.currency, deposit.amount)
  // The value that calls send is part of the payment to their clone, so it is not added.
  const paid = sumOfValues([
    ...asked.payments.map(({ currency, amount }) => value(asked.chainId, currency, amount)),
    ...(asked.appFees ?? []).map(({ amount }) => value(deposit.chainId, deposit.currency, amount)),
  ])
  if (received === undefined || paid === undefined) return wait('no price is known')
  if (paid > mostPaidFor(received, limits)) return refuse('it pays more than was deposited')
  return { kind: 'pay', lossMicroUsd: lossOf(paid, received) }
}
