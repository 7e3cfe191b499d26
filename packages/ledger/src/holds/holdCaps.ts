/**
 * Bounds on what quotes without a deposit may lock, so that quoting alone cannot starve a sponsor. They
 * count unpinned holds only; `user` and `recipient` of a hold both count as its users.
 */
export type HoldCaps = {
  readonly holdsPerUser: number
  readonly holdsPerKey: number
  /** Share of the posted balance that all unpinned holds together may take. */
  readonly balanceShareBps: bigint
  /** Share of the posted balance that the unpinned holds of one user may take. */
  readonly userShareBps: bigint
}

/** @source design.md 6.6 */
export const defaultHoldCaps: HoldCaps = {
  holdsPerUser: 3,
  holdsPerKey: 1_000,
  balanceShareBps: 2_500n,
  userShareBps: 500n,
}
