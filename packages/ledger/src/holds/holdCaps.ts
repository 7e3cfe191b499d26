/**
 * Bounds on what quotes without a deposit may hold, so that quoting alone cannot block a sponsor's balance. They
 * count unpinned holds only; `user` and `recipient` of a hold both count as its users. A quote beyond them
 * holds nothing until its deposit is pinned.
 */
export type HoldCaps = {
  /** Number of one user's holds to one destination chain. */
  readonly holdsPerUser: number
  /** Number of one API key's holds to one destination chain. */
  readonly holdsPerKey: number
  /**
   * Share of the posted balance that all unpinned holds of users without a settled request may take together; a single
   * one always may. A key's policy may set another share.
   */
  readonly unsettledShareBps: bigint
}

/** @source rule L-1 */
export const defaultHoldCaps: HoldCaps = {
  holdsPerUser: 3,
  holdsPerKey: 1_000,
  unsettledShareBps: 5_000n,
}
