import { divideUp, type MissingDepth, maxBigint } from '@causeway/core'
import { type DepositTerms, type SeenDeposit, unfitReason } from './pinDecision.ts'

/** Facts of a request that decide about one of its deposits. */
export type RequestState = {
  /** It has ended or waits for an operator, so that no further deposit can pay it. */
  readonly isOver: boolean
  /** The request is bound to another deposit that is still on its chain. */
  readonly isBound: boolean
  /** The solver has filled it, so that a fitting deposit belongs to the solver. */
  readonly isFilled: boolean
}

/** Amounts of the order's one input, in smallest units of its currency. */
export type RefundTerms = {
  readonly inputAmount: bigint
  /** Minimum that the order's refund returns: the input less the gas of a refund. */
  readonly refundMinimum: bigint
}

/** Why a deposit is refunded instead of paying its order. @source rule L-58 */
export type RefundReason =
  | 'DEPOSITED_AMOUNT_TOO_LOW_TO_FILL'
  | 'DOUBLE_SPEND'
  | 'INCORRECT_DEPOSIT_CURRENCY'
  | 'PROTOCOL_DEADLINE_EXPIRED'

/** Decision about a deposit that names an order. */
export type DepositDecision =
  | { readonly action: 'wait' }
  /** The deposit pays the order: bind the request to it and have it filled. */
  | { readonly action: 'bind' }
  | { readonly action: 'refund'; readonly reason: RefundReason; readonly amount: bigint }
  /** The deposit stays in the depository: its refund costs more, or no solver pays its token out there. */
  | { readonly action: 'ignore'; readonly reason: 'AMOUNT_TOO_LOW_TO_REFUND' | 'UNSUPPORTED_CURRENCY' }

/** Current cost of refunding a deposit in another currency than its order's, in that currency. */
export type OtherRefund =
  | { readonly state: 'priced'; readonly cost: bigint }
  /** The service knows no such currency on that chain. */
  | { readonly state: 'unlisted' }
  /** The price of gas or of the currency is not known now. */
  | { readonly state: 'unknown' }

/**
 * Decides on a deposit that names an order, whether it is in time, late, short, too much, repeated or in another currency. Its
 * price's expiry is decided elsewhere, by `lateStep`. Pure; the caller asks again while the answer is `wait`.
 * @param args.otherRefund of the deposited currency, where it is not the order's
 * @source rules L-58, L-59
 */
export function depositDecision(args: {
  readonly deposit: SeenDeposit
  readonly terms: DepositTerms
  readonly refund: RefundTerms
  readonly request: RequestState
  readonly otherRefund: OtherRefund
  readonly nowSeconds: number
}): DepositDecision {
  const { deposit, terms, refund, request, nowSeconds } = args
  if (!deposit.isCanonical || !deposit.isDeep) return { action: 'wait' }
  const unfit = unfitReason(deposit, terms)
  // An order names no refund on another chain, so a solver would refuse it.
  if (unfit === 'wrong_chain') return { action: 'ignore', reason: 'UNSUPPORTED_CURRENCY' }
  if (unfit === 'wrong_currency') return refundOfOther(deposit, args.otherRefund)
  const refundFor = (reason: RefundReason) => refundOf(deposit.amount, refund, reason)
  if (request.isOver || request.isBound) return refundFor('DOUBLE_SPEND')
  if (unfit !== undefined) return refundFor('DEPOSITED_AMOUNT_TOO_LOW_TO_FILL')
  if (!request.isFilled && nowSeconds >= terms.deadlineSeconds) return refundFor('PROTOCOL_DEADLINE_EXPIRED')
  return { action: 'bind' }
}

function refundOf(amount: bigint, terms: RefundTerms, reason: RefundReason): DepositDecision {
  const refunded = refundAmount(amount, terms)
  if (refunded === 0n) return { action: 'ignore', reason: 'AMOUNT_TOO_LOW_TO_REFUND' }
  return { action: 'refund', reason, amount: refunded }
}

/** Refund of a deposit in another currency: less the present cost of a refund, because no cost was quoted for it. */
function refundOfOther({ amount }: SeenDeposit, refund: OtherRefund): DepositDecision {
  if (refund.state === 'unlisted') return { action: 'ignore', reason: 'UNSUPPORTED_CURRENCY' }
  if (refund.state === 'unknown') return { action: 'wait' }
  if (amount <= refund.cost) return { action: 'ignore', reason: 'AMOUNT_TOO_LOW_TO_REFUND' }
  return { action: 'refund', reason: 'INCORRECT_DEPOSIT_CURRENCY', amount: amount - refund.cost }
}

/**
 * Refund of a deposit in the order's currency: the deposit less the quoted gas of a refund. It is at least the order's minimum
 * in proportion to the deposit, which oracles require. 0 if the deposit is not worth the gas.
 * @source rule L-58
 */
export function refundAmount(deposited: bigint, { inputAmount, refundMinimum }: RefundTerms): bigint {
  const gas = inputAmount - refundMinimum
  if (deposited <= gas) return 0n
  return maxBigint(deposited - gas, divideUp(deposited * refundMinimum, inputAmount))
}

/**
 * Refund of the excess of a deposit after its order was filled: the part above the quoted input, less the gas of a
 * refund. 0 if the excess is not worth the gas; the solver then keeps it.
 */
export function surplusRefund(deposited: bigint, quotedInput: bigint, terms: RefundTerms): bigint {
  // The order's input is its least deposit, which is below the quoted input if a swap before it may slip.
  const excess = deposited - maxBigint(terms.inputAmount, quotedInput)
  const refundGas = terms.inputAmount - terms.refundMinimum
  return maxBigint(excess - refundGas, 0n)
}

/** The next look at an undecided deposit. */
export type DepositRecheck = {
  readonly delayMs: number
  /** True if it has its depth and waits for something else; deposits that wait for depth go first. */
  readonly isDeep: boolean
}

/** Longest and first pause between two looks at a waiting deposit. */
const lookPauseMaxMs = 5_000
const lookPauseFirstMs = 500

/**
 * Recheck of a deposit that lacks depth. The next block may come at once; each further one counts half its
 * time, because a chain may be faster than configured. Missing seconds count in full. Finality comes at any
 * moment, so that it is asked for with the longest pause.
 */
export function recheckWhileShallow(
  { blocks, seconds, isFinalized: lacksFinality }: MissingDepth,
  { blockTimeMs }: { readonly blockTimeMs: number },
): DepositRecheck {
  const blocksMs = Math.max(0, blocks - 1) * (blockTimeMs / 2)
  const delayMs = Math.max(blocksMs, seconds * 1_000, lacksFinality ? lookPauseMaxMs : 0)
  return { delayMs: Math.min(delayMs, lookPauseMaxMs), isDeep: false }
}

/** Recheck of a deep deposit that waits, for example for market data: pauses grow, but stay short. */
export function recheckWhileWaiting({ looks }: { readonly looks: number }): DepositRecheck {
  return { delayMs: Math.min(lookPauseFirstMs * 1.5 ** looks, lookPauseMaxMs), isDeep: true }
}
