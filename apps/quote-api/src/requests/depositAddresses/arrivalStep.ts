import type { Hex } from '@causeway/core'
import { type RefundTerms, refundAmount, surplusRefund } from '../settlement/depositDecision.ts'

/** What lies at a deposit address deep enough to be acted on; amounts in smallest units. */
export type Arrival = {
  readonly nativeAmount: bigint
  readonly tokens: readonly ArrivedToken[]
}

export type ArrivedToken = {
  readonly currency: Hex
  readonly amount: bigint
  /** What a refund in another currency keeps pays for sweep and refund. */
  readonly isWorthRefund: boolean
}

/** The newest quote of an address. */
export type NewestQuote = {
  /** Wei that its order asks for. */
  readonly amount: bigint
  /** Nothing was deposited for it yet. */
  readonly isWaiting: boolean
  readonly expiresAtSeconds: number
  readonly deadlineSeconds: number
  readonly refund: RefundTerms
}

export type ArrivalStep =
  | { readonly action: 'wait' }
  /** Into the depository for the newest quote: settlement fills or refunds it. */
  | { readonly action: 'sweep'; readonly token?: Hex }
  /** For what arrived; where that is refused, `whenRefused`. */
  | { readonly action: 'requote'; readonly amount: bigint }
  /** Not worth its gas: it stays until more arrives, or its depositor takes it. */
  | { readonly action: 'leave'; readonly reason: 'AMOUNT_TOO_LOW_TO_REFUND' }

/** An order that ends sooner is not paid any more: the sweep and the fill take their time. */
const leadSeconds = 120
/** A sweep takes about so long: one that is asked for later makes a deposit after its quote's price. */
const sweepSeconds = 10

/**
 * What becomes of what was paid to an address: the quoted amount in time pays its quote, with dust beside
 * it, so that nobody spoils a quote by sending some; any other amount, or once the quote's price ends, is quoted anew;
 * tokens go back. Pure.
 * @source quote-api.md 2.7, open mode; design.md 5.8
 */
export function arrivalStep(args: {
  readonly arrival: Arrival
  readonly quote: NewestQuote
  readonly nowSeconds: number
}): ArrivalStep {
  const { arrival, quote, nowSeconds } = args
  const { nativeAmount } = arrival
  if (nativeAmount === 0n) return tokenStep(arrival)
  const isTimely =
    nowSeconds + sweepSeconds <= quote.expiresAtSeconds && nowSeconds + leadSeconds < quote.deadlineSeconds
  if (paysQuote(nativeAmount, quote) && quote.isWaiting && isTimely) return { action: 'sweep' }
  return { action: 'requote', amount: nativeAmount }
}

/** What is above the quoted amount is not worth the gas of giving it back. */
function paysQuote(nativeAmount: bigint, { amount, refund }: NewestQuote): boolean {
  return nativeAmount >= amount && surplusRefund(nativeAmount, amount, refund) === 0n
}

/** The same once no quote can be given for what arrived: it goes back where that is worth its gas. */
export function whenRefused(arrival: Arrival, { refund }: Pick<NewestQuote, 'refund'>): ArrivalStep {
  if (refundAmount(arrival.nativeAmount, refund) > 0n) return { action: 'sweep' }
  const step = tokenStep(arrival)
  return step.action === 'wait' ? left : step
}

const left: ArrivalStep = { action: 'leave', reason: 'AMOUNT_TOO_LOW_TO_REFUND' }

function tokenStep({ tokens }: Arrival): ArrivalStep {
  const worthy = tokens.find(({ isWorthRefund }) => isWorthRefund)
  if (worthy !== undefined) return { action: 'sweep', token: worthy.currency }
  return tokens.length === 0 ? { action: 'wait' } : left
}
