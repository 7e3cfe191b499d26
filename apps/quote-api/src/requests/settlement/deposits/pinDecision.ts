import type { HoldOutcome } from '@causeway/core'
import { pinGraceSeconds } from '../../timings.ts'

/** A deposit and its standing on the chain at one moment; the amount in smallest units. */
export type SeenDeposit = {
  /** Id of its row. */
  readonly id: string
  readonly chainId: number
  /** Canonical address. */
  readonly currency: string
  readonly amount: bigint
  /** It has the pin depth of its worth. @source F-100 */
  readonly isDeep: boolean
  /** False once its block left the chain. */
  readonly isCanonical: boolean
}

/** Requirements of the order for its deposit; times in Unix seconds. */
export type DepositTerms = {
  readonly chainId: number
  readonly currency: string
  readonly amountMin: bigint
  readonly deadlineSeconds: number
  /** Longest duration of a settlement after the deadline, in seconds. */
  readonly finalitySeconds: number
}

/** State of the sponsor's hold of a request. `superseded`: a newer quote's hold replaced it. */
export type HoldView =
  | { readonly state: 'none' }
  | { readonly state: 'reserved'; readonly expiresAtSeconds: number }
  | { readonly state: 'pinned'; readonly depositId: string }
  /** The quote exceeded a cap on holds, so that nothing is reserved before the deposit. */
  | { readonly state: 'at_deposit' }
  | { readonly state: 'superseded' | 'expired' | 'posted' | 'voided' }

/** Decision about a hold. */
export type PinDecision =
  /** Pin the hold to the deposit; the pin ends by itself at `untilSeconds`. */
  | { readonly action: 'pin'; readonly untilSeconds: number }
  /** The hold has ended, or waits for the deposit: reserve anew, and then decide by `lateReservation`. */
  | { readonly action: 'reserve_again'; readonly untilSeconds: number }
  /** The pinning deposit left the chain: let the hold expire again. */
  | { readonly action: 'unpin'; readonly expiresAtSeconds: number }
  | { readonly action: 'wait' }
  | { readonly action: 'ignore'; readonly reason: IgnoredDeposit }

export type IgnoredDeposit =
  | 'unsponsored'
  | 'settled'
  | 'orphaned'
  | 'wrong_chain'
  | 'wrong_currency'
  | 'too_little'
  | 'second_deposit'
  | 'pinned_already'

/** Lifetime of a hold after its deposit left the chain; a deposit that returns later reserves anew. */
const unpinnedSeconds = 90

/**
 * Decides on the sponsor's hold of a request whose deposit was seen. Pure; the caller asks again when the deposit or the hold
 * changes. Every hold ends by itself: a pinned one when its pin ends, any other with the quote.
 * @source rules L-45, L-59
 */
export function pinDecision(args: {
  readonly deposit: SeenDeposit
  readonly terms: DepositTerms
  readonly hold: HoldView
  readonly nowSeconds: number
}): PinDecision {
  const { deposit, terms, hold, nowSeconds } = args
  const untilSeconds = terms.deadlineSeconds + terms.finalitySeconds + pinGraceSeconds
  if (hold.state === 'none') return ignore('unsponsored')
  if (hold.state === 'posted' || hold.state === 'voided') return ignore('settled')
  if (hold.state === 'pinned') return whilePinned(deposit, hold.depositId, nowSeconds)
  const unfit = unfitReason(deposit, terms)
  if (unfit !== undefined) return ignore(unfit)
  if (!deposit.isDeep) return { action: 'wait' }
  // Once no pin may last any longer, the order can only be refunded, which needs no sponsor.
  if (nowSeconds >= untilSeconds) return ignore('settled')
  const isUnexpired = hold.state === 'reserved' && hold.expiresAtSeconds > nowSeconds
  return { action: isUnexpired ? 'pin' : 'reserve_again', untilSeconds }
}

function whilePinned(deposit: SeenDeposit, pinningDepositId: string, nowSeconds: number): PinDecision {
  if (deposit.id !== pinningDepositId) return ignore('second_deposit')
  if (deposit.isCanonical) return ignore('pinned_already')
  return { action: 'unpin', expiresAtSeconds: nowSeconds + unpinnedSeconds }
}

/** Why a deposit does not pay its order, whatever its hold; undefined if it does. */
export function unfitReason(deposit: SeenDeposit, terms: DepositTerms): IgnoredDeposit | undefined {
  if (!deposit.isCanonical) return 'orphaned'
  if (deposit.chainId !== terms.chainId) return 'wrong_chain'
  if (deposit.currency !== terms.currency) return 'wrong_currency'
  return deposit.amount < terms.amountMin ? 'too_little' : undefined
}

function ignore(reason: IgnoredDeposit): PinDecision {
  return { action: 'ignore', reason }
}

/** Consequence of a reservation made after the deposit; `pin`: it is pinned, so that the sponsor pays. */
export type LateReservation =
  | { readonly action: 'pin' }
  | { readonly action: 'refund'; readonly failReason: 'SPONSOR_BALANCE_TOO_LOW' }

/**
 * Decides by the outcome of a reservation that was made after the user paid. Without a hold the sponsor owes nothing, so the
 * deposit is refunded, because the solver would fill at a loss.
 * @source rule L-45
 */
export function lateReservation({ status }: HoldOutcome): LateReservation {
  const isHeld = status === 'reserved' || status === 'already_reserved'
  return isHeld ? { action: 'pin' } : { action: 'refund', failReason: 'SPONSOR_BALANCE_TOO_LOW' }
}
