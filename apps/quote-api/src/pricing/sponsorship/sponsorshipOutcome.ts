import type { Hex, HoldOutcome, SponsoredComponent } from '@causeway/core'
import type { Allocation, SponsorableFees } from './allocateSubsidy.ts'
import type { SponsorshipReason } from './sponsorshipTerms.ts'

/** Outcome for a request that asked about sponsorship, fixed at quote time. */
export type SponsorshipOutcome = {
  /** Wallet of the sponsor; undefined where nobody pays for the user. */
  readonly sponsor: Hex | undefined
  /** Fees that the request selected. */
  readonly selected: readonly SponsoredComponent[]
  /** The caller's cap; undefined: none. */
  readonly capMicroUsd: bigint | undefined
  readonly sponsorable: SponsorableFees
  readonly allocation: Allocation
  /** Debit of the sponsor's balance for the quoted input, when the request succeeds. @source rule L-10 */
  readonly debitMicroUsd: bigint
  /** True if the ledger holds the debit only once a deposit is pinned, because open quotes hold as much as they may. */
  readonly isHeldAtDeposit?: boolean
}

/**
 * Refusal of a reservation, as HTTP answers name it; undefined if the debit is held, or will be at the deposit.
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
      // Hold ids are random and new, so only a bug leads here.
      throw new Error(`a new hold was answered with ${outcome.status}`)
  }
}
