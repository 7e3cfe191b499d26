import type { Hex, HoldOutcome, SponsoredComponent } from '@causeway/core'
import type { Allocation, SponsorableFees } from './allocateSubsidy.ts'
import type { SponsorshipReason } from './sponsorshipTerms.ts'

/** Outcome for a request that asked about sponsorship, fixed at quote time. */
export type SponsorshipOutcome = {
  /** Undefined where nobody pays for the user. */
  readonly sponsor: Hex | undefined
  readonly selected: readonly SponsoredComponent[]
  readonly capMicroUsd: bigint | undefined
  readonly sponsorable: SponsorableFees
  readonly allocation: Allocation
  /** Debit of the sponsor's balance when the request succeeds. @source design.md 6.3 */
  readonly debitMicroUsd: bigint
  /** Nothing is held before the deposit is pinned: quotes hold as much of the balance as they may. */
  readonly isHeldAtDeposit?: boolean
}

/**
 * Refusal of a reservation, as answers name it; undefined if it was made.
 * @source rule L-50
 */
export function refusalReason(outcome: HoldOutcome): SponsorshipReason | undefined {
  switch (outcome.status) {
    case 'reserved':
    case 'already_reserved':
    case 'at_deposit':
      return undefined
    case 'insufficient_balance':
      return 'INSUFFICIENT_BALANCE'
    case 'sponsor_frozen':
      return 'POLICY_SPONSOR_FROZEN'
    case 'policy_refused':
      return `POLICY_${outcome.rule}`
    case 'conflict':
    case 'already_resolved':
    case 'unknown_hold':
      // Ids are random and fresh: only a bug can meet one again.
      throw new Error(`a new hold was answered with ${outcome.status}`)
  }
}
