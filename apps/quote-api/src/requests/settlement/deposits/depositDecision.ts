import { divideUp, type MissingDepth, maxBigint } from '@causeway/core'
import { type DepositTerms, type SeenDeposit, unfitReason } from './pinDecision.ts'

/** State of a request that decides about its next deposit. */
export type RequestState = {
  /** Its status can change no more. */
  readonly isOver: boolean
  /** A fitting deposit was acted on and still stands in its chain. */
  readonly isBound: boolean
  /** The solver has filled it: whatever deposit fits is the solver's. */
  readonly isFilled: boolean
}

/** Amounts of the order's one input, in smallest units of its currency. */
export type RefundTerms = {
  readonly inputAmount: bigint
  /** Minimum that the order's refund returns: the input less the gas of a refund. */
  readonly refundMinimum: bigint
}

/** Reason that a deposit does not pay its order. @source rule L-58 */
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
  /** Less than a refund costs, or a token that nobody can give back: it stays with the depository. */
  | { readonly action: 'ignore'; readonly reason: 'AMOUNT_TOO_LOW_TO_REFUND' | 'UNSUPPORTED_CURRENCY' }

/** Current cost of refunding a deposit in another currency than its order's, in that currency. */
export type OtherRefund =
  | { readonly state: 'priced'; readonly cost: bigint }
  /** The service knows no such currency on that chain. */
  | { readonly state: 'unlisted' }
  /** The price of gas or of the currency is not known now. */
  | { readonly state: 'unknown' }

/**
 * The defined end of every deposit: in time, late, short, too much, twice, in the wrong currency. Pure; the
 * caller asks again while the answer is `wait`.
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
  if (unfit === 'wrong_currency') return refundOfOther(deposit, args.otherRefund)
  const back = (reason: RefundReason) => refundOf(deposit.amount, refund, reason)
  if (request.isOver || request.isBound) return back('DOUBLE_SPEND')
  if (unfit !== undefined) return back('DEPOSITED_AMOUNT_TOO_LOW_TO_FILL')
  if (!request.isFilled && nowSeconds >= terms.deadlineSeconds) return back('PROTOCOL_DEADLINE_EXPIRED')
  return { action: 'bind' }
}

function refundOf(amount: bigint, terms: RefundTerms, reason: RefundReason): DepositDecision {
  const back = refundAmount(amount, terms)
  if (back === 0n) return { action: 'ignore', reason: 'AMOUNT_TOO_LOW_TO_REFUND' }
  return { action: 'refund', reason, amount: back }
}

/** Its refund was never quoted, so that it costs what it costs now: dust pays for itself or stays. */
function refundOfOther({ amount }: SeenDeposit, refund: OtherRefund): DepositDecision {
  if (refund.state === 'unlisted') return { action: 'ignore', reason: 'UNSUPPORTED_CURRENCY' }
  if (refund.state === 'unknown') return { action: 'wait' }
  if (amount <= refund.cost) return { action: 'ignore', reason: 'AMOUNT_TOO_LOW_TO_REFUND' }
  return { action: 'refund', reason: 'INCORRECT_DEPOSIT_CURRENCY', amount: amount - refund.cost }
}

/**
 * Refund of a deposit in the order's currency: all but the quoted gas of a refund, and never less than the minimum that
 * an oracle requires for that size. 0 if the gas exceeds it.
 * @source rule L-58
 */
export function refundAmount(deposited: bigint, { inputAmount, refundMinimum }: RefundTerms): bigint {
  const gas = inputAmount - refundMinimum
  if (deposited <= gas) return 0n
  return maxBigint(deposited - gas, divideUp(deposited * refundMinimum, inputAmount))
}

/**
 * Refund of the excess of a deposit after its order was filled: the part above the quoted input, less the gas of a
 * refund. 0 if the gas exceeds it: then the solver keeps it.
 */
export function surplusRefund(deposited: bigint, quotedInput: bigint, terms: RefundTerms): bigint {
  const above = deposited - maxBigint(terms.inputAmount, quotedInput)
  const back = above - (terms.inputAmount - terms.refundMinimum)
  return back > 0n ? back : 0n
}

/** When a deposit about which nothing could be decided is looked at again. */
export type DepositRecheck = {
  readonly delayMs: number
  /** True if it waits for more than its depth: then it goes behind the others. */
  readonly isDeep: boolean
}

/** Longest pause between two looks at a waiting deposit. */
const lookMaxMs = 5_000
const lookFirstMs = 500

/**
 * Well before its blocks can be enough, because a chain may be faster than it is configured, and no sooner than its seconds
 * can. What the chain calls final comes at any moment, and is asked for as seldom as may be.
 */
export function recheckWhileShallow(
  { blocks, seconds, isFinalized }: MissingDepth,
  { blockTimeMs }: { readonly blockTimeMs: number },
): DepositRecheck {
  const blocksMs = Math.max(0, blocks - 1) * (blockTimeMs / 2)
  const delayMs = Math.max(blocksMs, seconds * 1_000, isFinalized ? lookMaxMs : 0)
  return { delayMs: Math.min(delayMs, lookMaxMs), isDeep: false }
}

/** Recheck of a deposit with enough confirmations: market data may return at any moment, so the pauses stay short. */
export function recheckWhileWaiting({ looks }: { readonly looks: number }): DepositRecheck {
  return { delayMs: Math.min(lookFirstMs * 1.5 ** Math.min(looks, 20), lookMaxMs), isDeep: true }
}
