import type { Order, UsdX18 } from '@causeway/core'
import { isSameSpelling } from './signedOrder.ts'
import {
  isOfSameSource,
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

/**
 * State of the order's fill on its destination chain, for the verdict on a refund. `over`: final facts show that the
 * order was not filled and cannot be any more; `open`: it may still be filled; `filled`: a transaction of this wallet
 * filled it, for the named deposits; `filled_unknown`: the chain records a fill, but this solver's records do not name
 * its deposit; `filled_by_another`: another fill wallet that shares the market filled it.
 */
export type FillState =
  | { readonly kind: 'over' }
  | { readonly kind: 'open' }
  | { readonly kind: 'filled_unknown' }
  /** That wallet alone knows which deposit it used, and refunds the surplus. */
  | { readonly kind: 'filled_by_another' }
  | {
      readonly kind: 'filled'
      readonly chainId: number
      readonly payments: readonly { readonly currency: string; readonly amount: bigint }[]
      /** Keys of the deposits that paid for it. */
      readonly deposits: readonly string[]
    }

export type RefundFacts = {
  readonly order: Order
  readonly refund: {
    readonly orderId: string
    readonly chainId: number
    readonly chainKey: string
    readonly recipient: string
    readonly currency: string
    readonly amount: bigint
  }
  /** The one deposit that the refund gives back; undefined while it is not deep enough. */
  readonly deposit: SeenDeposit | undefined
  /** A refund of this deposit was signed before and has not failed. */
  readonly isGivenBack: boolean
  /** Sum of the other refunds for deposits of the same transaction and currency. */
  readonly givenBackThere: bigint
  /** A fill was paid for by a deposit of the same transaction and currency. */
  readonly hasFilledFrom: boolean
  /** Canonical spelling of the order's input currency. */
  readonly inputCurrency: string
  /** `open` also where it was not read, because the deposit paid for no fill and could pay for none. */
  readonly fill: FillState
  /** App fees that the order's fill owes, in the currency of its deposit. */
  readonly appFees: bigint
  readonly value: Valuer
  readonly limits: LossLimits
}

/**
 * Verdict on a refund: it must go where the deposit's own order says, be no more than the deposit, happen
 * once, and only after the order can no longer use it. For a filled order only the excess over the fill's
 * worth goes back. A deposit that paid for no fill is given back without loss.
 */
export function judgeRefund(facts: RefundFacts): Verdict {
  const { refund, deposit, order, fill } = facts
  if (!isRefundOption(refund, order)) return refuse('the order names no such refund')
  if (facts.isGivenBack) return refuse('the deposit was given back before')
  if (deposit === undefined) return wait('the deposit is not deep enough')
  if (deposit.orderId !== refund.orderId) return refuse('the deposit is of another order')
  if (deposit.chainKey !== refund.chainKey) return refuse('the deposit is on another chain')
  if (!isSameSpelling(deposit.currency, refund.currency)) return refuse('the deposit is of another currency')
  if (refund.amount > deposit.amount) return refuse('it gives back more than was deposited')
  if (facts.givenBackThere + refund.amount > deposit.inTransaction)
    return refuse('it gives back more than was deposited')
  // This deposit paid for no fill and fits the order too little to pay for one: the order's fill does not matter.
  if (!facts.hasFilledFrom && !fitsOrder(deposit, order, facts.inputCurrency))
    return { kind: 'pay', lossMicroUsd: 0n }
  switch (fill.kind) {
    case 'over':
      return { kind: 'pay', lossMicroUsd: 0n }
    case 'open':
      return wait('the order can still be filled')
    case 'filled_unknown':
      return refuse('the order was filled')
    case 'filled_by_another':
      return wait('another fill wallet has filled the order')
    case 'filled':
      // A deposit that paid for no fill goes back whole.
      return fill.deposits.some((key) => isOfSameSource(key, deposit))
        ? judgeSurplus(facts, deposit, fill)
        : { kind: 'pay', lossMicroUsd: 0n }
  }
}

/**
 * True if a refund's gas costs the wallet more than it keeps of the deposit. The share of the quoted gas that it keeps of
 * a small deposit is small too, so dust is refunded at the wallet's cost. Gas that has risen less than twofold since the
 * quote does not count. Without a price a refund counts as underpaid.
 */
export function isUnderpaid(keptValue: UsdX18 | undefined, cost: UsdX18 | undefined): boolean {
  return keptValue === undefined || cost === undefined || 2n * keptValue < cost
}

/** A deposit that could pay for a fill: of the order's currency, on its chain, at least its amount. */
export function fitsOrder(
  { chainKey, currency, amount }: Pick<SeenDeposit, 'chainKey' | 'currency' | 'amount'>,
  order: Order,
  inputCurrency: string,
): boolean {
  const payment = order.inputs[0]?.payment
  if (payment === undefined) return false
  return chainKey === payment.chainId && currency === inputCurrency && amount >= BigInt(payment.amount)
}

/** True if the order names this chain and recipient for a refund. */
function isRefundOption({ chainKey, recipient }: RefundFacts['refund'], order: Order): boolean {
  return order.inputs.some(({ refunds }) =>
    refunds.some((option) => option.chainId === chainKey && isSameSpelling(option.recipient, recipient)),
  )
}

/**
 * Verdict on refunding the surplus of a filled order. All refunds together are at most the deposit less the order's
 * input, and together with the fill they are worth no more than the deposit: otherwise an order with a small input and
 * a large output would pay the deposit out twice.
 */
function judgeSurplus(
  { order, refund, givenBackThere, appFees, value, limits }: RefundFacts,
  deposit: SeenDeposit,
  fill: Extract<FillState, { kind: 'filled' }>,
): Verdict {
  const { chainId, currency, inTransaction } = deposit
  // Without an input nothing would be surplus.
  const orderedAmount = BigInt(order.inputs[0]?.payment.amount ?? inTransaction)
  const refundedAmount = givenBackThere + refund.amount
  if (refundedAmount > inTransaction - orderedAmount) return refuse('the fill has used the deposit')
  const received = value(chainId, currency, inTransaction)
  const filled = sumOfValues([
    ...fill.payments.map((paid) => value(fill.chainId, paid.currency, paid.amount)),
    value(chainId, currency, appFees),
  ])
  const returned = value(refund.chainId, refund.currency, refundedAmount)
  if (received === undefined || filled === undefined || returned === undefined)
    return wait('no price is known')
  if (filled + returned > mostPaidFor(received, limits)) return refuse('the fill has used the deposit')
  // The fill's own loss was charged when it was paid, so the refund is charged with the rest.
  return { kind: 'pay', lossMicroUsd: lossOf(filled + returned, received) - lossOf(filled, received) }
}
