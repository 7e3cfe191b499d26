import type { HoldOutcome } from '@causeway/core'
import { pinGraceSeconds } from '../../timings.ts'

/** A deposit as a watcher sees it at one moment; the amount in smallest units. */
export type SeenDeposit = {
  /** Chain, transaction and place in it: equal for one deposit however often it is seen. */
  readonly id: string
  readonly chainId: number
  /** Canonical address. */
  readonly currency: string
  readonly amount: bigint
  /** As deep as its chain asks for its size. @source F-100 */
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

/** The sponsor's hold for the request. `superseded`: a newer quote took its place. */
export type HoldView =
  | { readonly state: 'none' }
  | { readonly state: 'reserved'; readonly expiresAtSeconds: number }
  | { readonly state: 'pinned'; readonly depositId: string }
  /** The quote was beyond a cap: its deposit reserves. */
  | { readonly state: 'at_deposit' }
  | { readonly state: 'superseded' | 'expired' | 'posted' | 'voided' }

export type PinDecision =
  /** Tie the hold to the deposit; it ends by itself at `untilSeconds`. */
  | { readonly action: 'pin'; readonly untilSeconds: number }
  /** The hold is gone, or was left to the deposit: reserve and then do as `lateReservation` says. */
  | { readonly action: 'reserve_again'; readonly untilSeconds: number }
  /** The deposit it was tied to is gone: the hold may expire again. */
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

/** An orphaned deposit usually comes back within minutes; then it reserves again. */
const unpinnedSeconds = 90

/**
 * Decision on the hold of a request whose deposit was seen. Pure: the caller passes the state of chain and ledger at
 * one moment, and asks again when either changes. Every hold ends by itself, whatever is seen: a pin has an end, and
 * without a pin the quote's own expiry stands.
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
  // After the end of a pin there is nothing left to settle: the refund runs without a sponsor.
  if (nowSeconds >= untilSeconds) return ignore('settled')
  const isLiving = hold.state === 'reserved' && hold.expiresAtSeconds > nowSeconds
  return { action: isLiving ? 'pin' : 'reserve_again', untilSeconds }
}

function whilePinned(deposit: SeenDeposit, pinnedBy: string, nowSeconds: number): PinDecision {
  if (deposit.id !== pinnedBy) return ignore('second_deposit')
  if (deposit.isCanonical) return ignore('pinned_already')
  return { action: 'unpin', expiresAtSeconds: nowSeconds + unpinnedSeconds }
}

/** Reason that a deposit can never pay its order, whatever the hold is. */
export function unfitReason(deposit: SeenDeposit, terms: DepositTerms): IgnoredDeposit | undefined {
  if (!deposit.isCanonical) return 'orphaned'
  if (deposit.chainId !== terms.chainId) return 'wrong_chain'
  if (deposit.currency !== terms.currency) return 'wrong_currency'
  return deposit.amount < terms.amountMin ? 'too_little' : undefined
}

function ignore(reason: IgnoredDeposit): PinDecision {
  return { action: 'ignore', reason }
}

export type LateReservation =
  | { readonly action: 'pin' }
  | { readonly action: 'refund'; readonly failReason: 'SPONSOR_BALANCE_TOO_LOW' }
  /** There is no hold to bind: the request was settled before, or never had a sponsor. */
  | { readonly action: 'ignore' }

/**
 * Result of a fresh reservation after the user has paid: the sponsor is bound by a hold or not at all, and the solver
 * never fills below cost.
 * @source rule L-45
 */
export function lateReservation({ status }: HoldOutcome): LateReservation {
  switch (status) {
    case 'reserved':
    case 'already_reserved':
      return { action: 'pin' }
    case 'insufficient_balance':
    case 'sponsor_frozen':
    case 'policy_refused':
    case 'at_deposit':
      return { action: 'refund', failReason: 'SPONSOR_BALANCE_TOO_LOW' }
    case 'conflict':
    case 'already_resolved':
    case 'unknown_hold':
      return { action: 'ignore' }
  }
}
