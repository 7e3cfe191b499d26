import { type RefundTerms, refundAmount, surplusRefund } from '../../settlement/deposits/depositDecision.ts'

/** Money at a deposit address, with enough confirmations to act on it. */
export type Arrival = {
  /** Amount of the quoted currency, in its smallest units. */
  readonly amount: bigint
  /** Money in other currencies than the quoted one. */
  readonly others: readonly OtherArrival[]
}

/** A listed currency that nobody asked for; native coin too, at the address of a token. */
export type OtherArrival = {
  readonly currency: string
  /** True if it is worth the gas of its sweep and its refund. */
  readonly isWorthRefund: boolean
}

/** The newest quote of an address, as far as it decides about money that arrived. */
export type NewestQuote = {
  /** True for a single use: every arrival belongs to its order, whatever the amount. */
  readonly isStrict: boolean
  /** Amount to pay to the address, in smallest units of its currency. */
  readonly amount: bigint
  /** Nothing was deposited for it yet. */
  readonly isWaiting: boolean
  readonly expiresAtSeconds: number
  readonly deadlineSeconds: number
  /** Time that the sweep and the fill need before the deadline; with less, the order cannot be filled any more. */
  readonly leadSeconds: number
  readonly refund: RefundTerms
  /** Consecutive failures of the swap before the deposit; undefined where the quote has no such swap. */
  readonly failedSwaps: number | undefined
}

/** Decision about the money at an address. */
export type ArrivalStep =
  /** Nothing has arrived, or not deep enough. */
  | { readonly action: 'wait' }
  /** Deposit it for the newest quote, after which settlement fills or refunds it. `other` is a currency not quoted. */
  | { readonly action: 'sweep'; readonly other?: string }
  /** Send it back to its depositor at the solver's cost: its swap kept failing, or an operator decided so. */
  | { readonly action: 'withdraw' }
  /** Quote the amount that arrived; where that is refused, `whenRefused` decides. */
  | { readonly action: 'requote'; readonly amount: bigint }
  /** Not worth the gas: it stays until more arrives, or its depositor takes it. */
  | { readonly action: 'leave'; readonly reason: 'AMOUNT_TOO_LOW_TO_REFUND' }

/** Consecutive failures after which a swap before a deposit is given up. */
const swapTriesMax = 3
/** Shortest duration of a sweep. With less time before the price expires, the sweep deposits too late. */
const sweepLeastSeconds = 10

/**
 * Decides what to do with money at an address. The quoted amount, or slightly more, pays the quote if it came in time.
 * Another amount, or one that came too late, is quoted anew, unless the address has a single use. Other currencies are
 * refunded. Pure.
 * @source rules
 */
export function arrivalStep(args: {
  readonly arrival: Arrival
  readonly quote: NewestQuote
  readonly nowSeconds: number
}): ArrivalStep {
  const { arrival, quote, nowSeconds } = args
  const { amount } = arrival
  if (amount === 0n) return stepForOthers(arrival)
  const { failedSwaps = 0 } = quote
  if (failedSwaps >= swapTriesMax) return whenRefused(arrival, quote)
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

/**
 * Decides about a payment that cannot be quoted. If it is worth the gas, it goes back: by a sweep, whose
 * deposit settlement refunds, or by a withdrawal where the swap before the deposit keeps failing. Otherwise
 * it stays, and another currency beside it may be swept.
 */
export function whenRefused(
  arrival: Arrival,
  { refund, failedSwaps = 0 }: Pick<NewestQuote, 'refund' | 'failedSwaps'>,
): ArrivalStep {
  if (refundAmount(arrival.amount, refund) > 0n)
    return { action: failedSwaps >= swapTriesMax ? 'withdraw' : 'sweep' }
  const step = stepForOthers(arrival)
  return step.action === 'wait' ? leaveStep : step
}

const leaveStep: ArrivalStep = { action: 'leave', reason: 'AMOUNT_TOO_LOW_TO_REFUND' }

function stepForOthers({ others }: Arrival): ArrivalStep {
  const worthy = others.find(({ isWorthRefund }) => isWorthRefund)
  if (worthy !== undefined) return { action: 'sweep', other: worthy.currency }
  return others.length === 0 ? { action: 'wait' } : leaveStep
}

/** Blocks below the head whose state every node still keeps. */
const statesKeptBlocks = 64n

/**
 * Height at which balances are read on chains whose blocks show the payers: the newest block whose payments
 * were read. At the head, money could be swept before its payer is known. To wait for the head's payments
 * could last for ever, since each new block moves the head again. If nodes have dropped the state of the
 * block that was read, the head is taken, and the look waits until the scan has caught up. It is taken, too,
 * where the scan has read further than this head. Pure.
 * @param scannedTo height up to which payments were read; undefined where none was
 */
export function judgedHeight(head: bigint, scannedTo: bigint | undefined): bigint {
  if (scannedTo === undefined || scannedTo > head || head - scannedTo > statesKeptBlocks) return head
  return scannedTo
}
