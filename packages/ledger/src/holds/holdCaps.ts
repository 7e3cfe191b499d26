/**
 * Bounds on what quotes without a deposit may lock, so that quoting alone cannot starve a sponsor. They
 * count unpinned holds only; `user` and `recipient` of a hold both count as its users. A quote beyond them
 * holds nothing until its deposit is pinned.
 */
export type HoldCaps = {
  /** To one destination chain. */
  readonly holdsPerUser: number
  /** To one destination chain. */
  readonly holdsPerKey: number
  /**
   * Share of the posted balance that the unpinned holds of users who never settled a request may take
   * together; one request always may. A key's policy may name another.
   */
  readonly unsettledShareBps: bigint
}

/** @source rule L-1 */
export const defaultHoldCaps: HoldCaps = {
  holdsPerUser: 3,
  holdsPerKey: 1_000,
  unsettledShareBps: 5_000n,
}
