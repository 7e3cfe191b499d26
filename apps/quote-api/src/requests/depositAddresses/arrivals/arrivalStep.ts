import { type RefundTerms, refundAmount, surplusRefund } from '../../settlement/deposits/depositDecision.ts'

/** Money at a deposit address, with enough confirmations to act on it. */
export type Arrival = {
  /** Amount of the quoted currency, in its smallest units. */
  readonly amount: bigint
  readonly others: readonly OtherArrival[]
}

/** A listed currency that nobody asked for; native coin too, at the address of a token. */
export type OtherArrival = {
  readonly currency: string
  /** True if it is worth the gas of its sweep and its refund. */
  readonly isWorthRefund: boolean
}

/** The newest quote of an address. */
export type NewestQuote = {
  /** True for a single use: every arrival belongs to its order, whatever the amount. */
  readonly isStrict: boolean
  /** Amount to pay to the address, in smallest units of its currency. */
  readonly amount: bigint
  /** Nothing was deposited for it yet. */
  readonly isWaiting: boolean
  readonly expiresAtSeconds: number
  readonly deadlineSeconds: number
  /** An order that ends sooner is not paid any more: its sweep and its fill take their time. */
  readonly leadSeconds: number
  readonly refund: RefundTerms
  /** Consecutive failures of the swap before the deposit; undefined: deposited without a swap. */
  readonly failedSwaps: number | undefined
}

export type ArrivalStep =
  | { readonly action: 'wait' }
  /** Into the depository for the newest quote, the quoted currency or another: settlement fills or refunds it. */
  | { readonly action: 'sweep'; readonly other?: string }
  /** To its depositor, at the solver's cost: no swap of it succeeds, so that nothing of it could be deposited. */
  | { readonly action: 'withdraw' }
  /** For what arrived; where that is refused, `whenRefused`. */
  | { readonly action: 'requote'; readonly amount: bigint }
  /** Not worth its gas: it stays until more arrives, or its depositor takes it. */
  | { readonly action: 'leave'; readonly reason: 'AMOUNT_TOO_LOW_TO_REFUND' }

/** Limit of consecutive failures of a swap before a deposit. */
const swapTries = 3
/** A sweep takes at least so long: one that is asked for later makes a deposit after its quote's price. */
const sweepLeastSeconds = 10

/**
 * Next step for a payment to an address. The quoted amount in time pays its quote, with dust beside it, so that dust
 * cannot spoil a quote; any other amount, or one after the end of the quote's price, is quoted anew, unless the address
 * has a single use; other currencies go back. Pure.
 * @source rules
 */
export function arrivalStep(args: {
  readonly arrival: Arrival
  readonly quote: NewestQuote
  readonly nowSeconds: number
}): ArrivalStep {
  const { arrival, quote, nowSeconds } = args
  const { amount } = arrival
  if (amount === 0n) return otherStep(arrival)
  const { failedSwaps = 0 } = quote
  if (failedSwaps >= swapTries) return whenRefused(arrival, quote)
  if (quote.isStrict) return amount >= quote.amount ? { action: 'sweep' } : whenRefused(arrival, quote)
  const isTimely =
    nowSeconds + sweepLeastSeconds <= quote.expiresAtSeconds &&
    nowSeconds + quote.leadSeconds < quote.deadlineSeconds
  // After a failed swap the market has moved, so the same swap would fail again.
  const isAsQuoted = paysQuote(amount, quote) && failedSwaps === 0
  if (isAsQuoted && quote.isWaiting && isTimely) return { action: 'sweep' }
  return { action: 'requote', amount }
}

/** True if the payment covers the quote and its excess is not worth the gas of a refund. */
function paysQuote(paid: bigint, { amount, refund }: NewestQuote): boolean {
  return paid >= amount && surplusRefund(paid, amount, refund) === 0n
}

/** Next step for a payment that cannot be quoted: it goes back if it is worth the gas. */
export function whenRefused(
  arrival: Arrival,
  { refund, failedSwaps = 0 }: Pick<NewestQuote, 'refund' | 'failedSwaps'>,
): ArrivalStep {
  if (refundAmount(arrival.amount, refund) > 0n)
    return { action: failedSwaps >= swapTries ? 'withdraw' : 'sweep' }
  const step = otherStep(arrival)
  return step.action === 'wait' ? left : step
}

const left: ArrivalStep = { action: 'leave', reason: 'AMOUNT_TOO_LOW_TO_REFUND' }

function otherStep({ others }: Arrival): ArrivalStep {
  const worthy = others.find(({ isWorthRefund }) => isWorthRefund)
  if (worthy !== undefined) return { action: 'sweep', other: worthy.currency }
  return others.length === 0 ? { action: 'wait' } : left
}

/** Nodes keep the state of so many blocks, and of more. */
const statesKept = 64n

/**
 * The block at which addresses are judged whose payers are told by blocks: the newest one whose payments were read. At
 * the head itself, what lies there could be swept before its transfer is known, and a look that waits for that would
 * wait without end where it always comes just before its block is read: looks and blocks have one rhythm. Far behind it nothing can be read of the past, and a look waits. Pure.
 * @param scannedTo height up to which payments were read; undefined where none was
 */
export function judgedHeight(head: bigint, scannedTo: bigint | undefined): bigint {
  if (scannedTo === undefined || scannedTo > head || head - scannedTo > statesKept) return head
  return scannedTo
}
