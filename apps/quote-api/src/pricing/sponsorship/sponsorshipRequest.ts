import type { FeeComponent } from '@causeway/core'

/**
 * What a request says about who pays, beside its `x-api-key`; the cap in micro-USDC.
 * @source quote-and-sponsorship.md, POST /quote
 */
export type SponsorshipRequest = {
  readonly subsidizeFees: boolean
  readonly capMicroUsd: bigint | undefined
  readonly subsidizeRent: boolean
  readonly depositFeePayer: string | undefined
  /** Those that nobody can sponsor are accepted and pass without effect. */
  readonly components: readonly FeeComponent[] | undefined
}

/** Why a request that asked for a sponsor has none, or less than all. @source design.md 6.2 */
export type SponsorshipReason =
  | 'INSUFFICIENT_BALANCE'
  | 'CAP_REACHED'
  | 'CAP_BELOW_FEES'
  | 'RENT_NOT_SUBSIDIZED'
  | 'NOTHING_TO_SPONSOR'
  | `POLICY_${string}`
